"""Strands: the named parts of a code, and what can be done to them.

A strand is a named set of code dimensions; strands may nest, and one of them is the default representation.
Wherever a strand is asked for, the number of a single code dimension will do as well.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from unbraid.distributed import gather, joined, share
from unbraid.types import Codes


@lru_cache(maxsize=256)
def _mask(indices: tuple[int, ...], size: int, device: torch.device) -> Bool[Tensor, " d"]:
    with torch.inference_mode(False):  # what is kept must serve training as well
        return torch.tensor([i in indices for i in range(size)], device=device)


@lru_cache(maxsize=256)
def _index(indices: tuple[int, ...], device: torch.device) -> Int[Tensor, " s"]:
    with torch.inference_mode(False):
        return torch.tensor(indices, dtype=torch.long, device=device)


class Strands(Mapping[str, tuple[int, ...]]):
    """Which dimensions of a code of `size` belong to which strand.

    >>> strands = Strands.cut(common=2, salient=1)
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
                    f"Strand {name!r} needs distinct dimensions from 0 to {size - 1}; got {indices}."
                )
        if self.default not in self._strands:
            raise ValueError(f"The default strand {self.default!r} is none of {', '.join(self._strands)}.")

    @classmethod
    def cut(cls, *, default: str | None = None, **sizes: int) -> "Strands":
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
                    f"Code {strand} does not exist: the code has dimensions 0 to {self.size - 1}."
                )
            return (strand,)
        if strand not in self._strands:
            raise ValueError(
                f"There is no strand {strand!r}; the strands are {', '.join(self._strands)}, "
                f"and single codes go by their number, 0 to {self.size - 1}."
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
        """True where a dimension belongs to the strand, on the device of the codes."""
        return _mask(self[strand], self.size, codes.device)

    def take(self, codes: Codes, strand: str | int) -> Float[Tensor, "b s"]:
        """The dimensions of one strand."""
        return codes.index_select(1, _index(self[strand], codes.device))

    def set(self, codes: Codes, strand: str | int, values: Float[Tensor, "*b s"]) -> Codes:
        """The codes with a strand replaced, by one row of values for all or a row for each."""
        values = torch.atleast_2d(values).expand(len(codes), -1)
        return codes.index_copy(1, _index(self[strand], codes.device), values.to(codes.dtype))

    def zero(self, codes: Codes, strand: str | int) -> Codes:
        """The codes with a strand set to zero."""
        return codes.masked_fill(self.mask(codes, strand), 0.0)

    def swap(self, a: Codes, b: Codes, strand: str | int) -> tuple[Codes, Codes]:
        """Both codes with a strand exchanged between them, row by row."""
        mask = self.mask(a, strand)
        return torch.where(mask, b, a), torch.where(mask, a, b)

    def average(self, codes: Codes, strand: str | int, groups: Int[Tensor, " b"]) -> Codes:
        """The codes with a strand replaced by its mean over the rows of the same group."""
        everyone, everyones_groups = gather(codes), gather(groups)
        same = (groups[:, None] == everyones_groups[None]).to(codes.dtype)
        means = same @ everyone / same.sum(1, keepdim=True)
        return torch.where(self.mask(codes, strand), means, codes)

    def sweep(
        self, codes: Codes, strand: str | int, values: Float[Tensor, " v"] | Float[Tensor, "v s"]
    ) -> Float[Tensor, "v b d"]:
        """The codes with a strand set to each of the values in turn; a flat list is for a single code."""
        values = values[:, None] if values.ndim == 1 else values
        return torch.stack([self.set(codes, strand, row) for row in values])

    def shuffle(self, codes: Codes, *strands: str | int) -> Codes:
        """Each of the strands moved whole to other rows, every strand by a permutation of its own.

        With several processes the rows are those of the joined batch.
        """
        column = [0] * self.size  # which order each dimension follows; 0 stays
        for place, strand in enumerate(strands, start=1):
            for dimension in self[strand]:
                if column[dimension]:
                    raise ValueError(
                        f"Strand {strand!r} overlaps another one of {strands}: shuffle disjoint strands."
                    )
                column[dimension] = place
        everyone = gather(codes)
        orders = joined(torch.rand, codes, len(strands)).argsort(0)
        stay = torch.arange(len(everyone), device=codes.device)[:, None]
        order = torch.cat([stay, orders], 1).index_select(1, _index(tuple(column), codes.device))
        return share(everyone.gather(0, order))


def feature_strands(features: int, dimensions: int) -> Strands:
    """A code of features of equal size: all of it, and each feature, z0, z1, …, where it has several dimensions."""
    whole = {"codes": range(features * dimensions)}
    parts = {f"z{k}": range(k * dimensions, (k + 1) * dimensions) for k in range(features)}
    return Strands(whole | (parts if dimensions > 1 else {}), size=features * dimensions)
