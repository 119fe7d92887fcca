"""Strands: named sets of dimensions of a code, and the operations on them.

Strands may nest, and one of them is the default representation. Every operation takes the name of a strand or the
index of a single dimension.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unbraid.distributed import all_gather, local_shard, random_for_global_batch
from unbraid.types import Codes


@lru_cache(maxsize=256)
def _mask(indices: tuple[int, ...], size: int, device: torch.device) -> Bool[Tensor, " d"]:
    with torch.inference_mode(False):  # the cached tensor is also used in training
        return torch.tensor([i in indices for i in range(size)], device=device)


@lru_cache(maxsize=256)
def _index(indices: tuple[int, ...], device: torch.device) -> Int[Tensor, " s"]:
    with torch.inference_mode(False):
        return torch.tensor(indices, dtype=torch.long, device=device)


class Strands(Mapping[str, tuple[int, ...]]):
    """The dimensions of each strand in a code of `size` dimensions.

    >>> strands = Strands.from_sizes(common=2, salient=1)
    >>> strands["salient"], strands.default, strands.size
    ((2,), 'common', 3)
    """

    def __init__(
        self, strands: Mapping[str, Sequence[int]], *, size: int, default: str | None = None
    ) -> None:
        self._strands = {name: tuple(indices) for name, indices in strands.items()}
        self.size = size
        self.default = next(iter(self._strands)) if default is None else default
        for name, indices in self._strands.items():
            if len(set(indices)) != len(indices) or not all(0 <= i < size for i in indices):
                raise ValueError(
                    f"Strand {name!r} must have distinct dimensions from 0 to {size - 1}; got {indices}."
                )
        if self.default not in self._strands:
            raise ValueError(
                f"The default strand must be one of {', '.join(self._strands)}; got {self.default!r}."
            )

    @classmethod
    def from_sizes(cls, *, default: str | None = None, **sizes: int) -> "Strands":
        """Consecutive strands of the given sizes."""
        strands, start = {}, 0
        for name, size in sizes.items():
            strands[name] = range(start, start + size)
            start += size
        return cls(strands, size=start, default=default)

    def __getitem__(self, strand: str | int) -> tuple[int, ...]:
        if isinstance(strand, str) and strand.isdecimal() and strand not in self._strands:
            strand = int(strand)
        if isinstance(strand, int):
            if not 0 <= strand < self.size:
                raise ValueError(
                    f"There is no dimension {strand}; the code has dimensions 0 to {self.size - 1}."
                )
            return (strand,)
        if strand not in self._strands:
            raise ValueError(
                f"There is no strand {strand!r}; the strands are {', '.join(self._strands)}, "
                f"and single dimensions are 0 to {self.size - 1}."
            )
        return self._strands[strand]

    def __iter__(self) -> Iterator[str]:
        return iter(self._strands)

    def __len__(self) -> int:
        return len(self._strands)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {len(indices)}" for name, indices in self._strands.items())
        return f"Strands({parts}; default {self.default})"

    def _repr_html_(self) -> str:
        from unbraid.display import strands_html

        return strands_html(self)

    def mask(self, codes: Codes, strand: str | int) -> Bool[Tensor, " d"]:
        """True for the dimensions of the strand, on the device of the codes."""
        return _mask(self[strand], self.size, codes.device)

    def take(self, codes: Codes, strand: str | int) -> Float[Tensor, "b s"]:
        """The codes of one strand."""
        return codes.index_select(1, _index(self[strand], codes.device))

    def set(self, codes: Codes, strand: str | int, values: Float[Tensor, "*b s"]) -> Codes:
        """The codes with a strand replaced, by one row of values for all codes or by one row per code."""
        values = torch.atleast_2d(values).expand(len(codes), -1)
        return codes.index_copy(1, _index(self[strand], codes.device), values.to(codes.dtype))

    def zero(self, codes: Codes, strand: str | int) -> Codes:
        """The codes with a strand set to zero."""
        return codes.masked_fill(self.mask(codes, strand), 0.0)

    def swap(self, a: Codes, b: Codes, strand: str | int) -> tuple[Codes, Codes]:
        """Both codes with a strand exchanged, row by row."""
        mask = self.mask(a, strand)
        return torch.where(mask, b, a), torch.where(mask, a, b)

    def average(self, codes: Codes, strand: str | int, groups: Int[Tensor, " b"]) -> Codes:
        """The codes with a strand replaced by its mean over the rows of the same group."""
        all_codes, all_groups = all_gather(codes), all_gather(groups)
        same = (groups[:, None] == all_groups[None]).to(codes.dtype)
        means = same @ all_codes / same.sum(1, keepdim=True)
        return torch.where(self.mask(codes, strand), means, codes)

    def traverse(
        self, codes: Codes, strand: str | int, values: Float[Tensor, " v"] | Float[Tensor, "v s"]
    ) -> Float[Tensor, "v b d"]:
        """The codes with a strand set to each value; a flat list of values is for a single dimension."""
        values = values[:, None] if values.ndim == 1 else values
        return torch.stack([self.set(codes, strand, row) for row in values])

    def shuffle(self, codes: Codes, *strands: str | int) -> Codes:
        """The codes with the rows of each strand permuted, independently for each strand.

        With several processes the permutations are over the global batch.
        """
        column = [0] * self.size  # the permutation of each dimension; 0 leaves its rows unchanged
        for index, strand in enumerate(strands, start=1):
            for dimension in self[strand]:
                if column[dimension]:
                    raise ValueError(
                        f"Shuffled strands must be disjoint; {strand!r} overlaps another of {strands}."
                    )
                column[dimension] = index
        all_codes = all_gather(codes)
        permutations = random_for_global_batch(torch.rand, codes, len(strands)).argsort(0)
        unchanged = torch.arange(len(all_codes), device=codes.device)[:, None]
        order = torch.cat([unchanged, permutations], 1).index_select(1, _index(tuple(column), codes.device))
        return local_shard(all_codes.gather(0, order))


def innermost_strands(strands: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """The strands that contain no other strand."""
    return tuple(
        name
        for name, dims in strands.items()
        if not any(set(other) < set(dims) for other in strands.values())
    )


def feature_strands(num_features: int, feature_dim: int) -> Strands:
    """The strands of features of equal size: `codes` for all, and z0, z1, … for features of several dimensions."""
    size = num_features * feature_dim
    features = {f"z{k}": range(k * feature_dim, (k + 1) * feature_dim) for k in range(num_features)}
    return Strands({"codes": range(size)} | (features if feature_dim > 1 else {}), size=size)
