"""Codes of factor combinations; a combination that is sampled repeatedly is encoded once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_codes, require_protocol

P = TypeVar("P", bound=tuple)  # the named sample sizes of a metric's protocol
EncodeFactors = Callable[[np.ndarray], np.ndarray] | np.ndarray

# Up to this number of combinations, a table marks the sampled ones; above it, the samples are sorted.
DENSE = 1 << 26
BATCH = 64  # combinations per call: their images fit the caches of a processor


@runtime_checkable
class HasSizes(Protocol):
    """A factor space."""

    @property
    def sizes(self) -> Sequence[int]: ...


@runtime_checkable
class HasBatch(Protocol):
    """A function that knows how many combinations it takes at a time."""

    @property
    def batch(self) -> int: ...


def as_sizes(factor_space: object) -> Int[np.ndarray, " k"]:
    """The number of values of each factor, from a sequence or from an object with `.sizes`."""
    sizes = np.asarray(factor_space.sizes if isinstance(factor_space, HasSizes) else factor_space)
    if sizes.ndim != 1 or sizes.size < 2 or sizes.dtype.kind not in "iu":
        raise ValueError(
            f"factor_space must list the sizes of at least two factors as integers; got {factor_space!r}."
        )
    if (sizes < 2).any():
        raise ValueError(
            f"each factor must take at least two values; got sizes {sizes.tolist()}; "
            "leave out the factors that never change."
        )
    return sizes.astype(np.int64)


def protocol_with(protocols: Mapping[str, P], protocol: str, **sizes: int | float | None) -> P:
    """The sample sizes of a protocol, with the given ones in place of its own; `images` is a size of `grid` only."""
    require_protocol(protocol, protocols)
    if sizes["images"] is not None and protocol != "grid":
        raise ValueError(f"images requires protocol 'grid'; got protocol {protocol!r}. Leave out images.")
    given = {name: size for name, size in sizes.items() if size is not None}
    return protocols[protocol]._replace(**given)  # type: ignore[attr-defined]


class Encodings:
    """Codes of factor combinations, which are identified by their index on the factor grid.

    Indices are row-major: the last factor changes fastest. `encode_factors` maps a table of at most `batch` factor
    combinations to codes, or is the table of the codes of the whole grid, one row per index. Without `batch`, it is the
    attribute of this name of `encode_factors`, if it has one.
    """

    def __init__(self, encode_factors: EncodeFactors, space: object, batch: int | None = None) -> None:
        if batch is None:
            batch = encode_factors.batch if isinstance(encode_factors, HasBatch) else BATCH
        if batch < 1:
            raise ValueError(f"batch must be at least 1; got {batch}.")
        self.batch = batch
        self.sizes = as_sizes(space)
        self.num_combinations = int(np.prod(self.sizes, dtype=object))
        if self.num_combinations >= 2**62:
            raise ValueError(
                f"a factor space must have fewer than 2^62 combinations; got {self.num_combinations}."
            )
        self.strides = _strides(self.sizes)
        self.encode_factors = encode_factors if callable(encode_factors) else None
        self.table = np.empty((0, 0))
        if self.encode_factors is None:
            self.table = as_codes(encode_factors, name="codes_on_grid", samples=self.num_combinations)  # type: ignore[arg-type]
        self.encoded = 0  # number of combinations passed to `encode_factors`

    def factors(self, indices: Int[np.ndarray, " n"]) -> Int[np.ndarray, "n k"]:
        """The factor values of the combinations with these indices."""
        return indices[:, None] // self.strides % self.sizes

    def encode(self, draws: Sequence[np.ndarray]) -> tuple[Float[np.ndarray, "rows d"], list[np.ndarray]]:
        """The codes of all indices in `draws`, one row per distinct index, and the rows of each draw."""
        if self.encode_factors is None:
            return self.table, list(draws)
        if self.num_combinations <= DENSE:
            sampled = np.zeros(self.num_combinations, dtype=bool)
            for draw in draws:
                sampled[draw] = True
            distinct = np.flatnonzero(sampled)
            row_of = np.cumsum(sampled, dtype=np.int32) - 1
            rows = [row_of[draw] for draw in draws]
        else:
            distinct, inverse = np.unique(np.concatenate([d.ravel() for d in draws]), return_inverse=True)
            split = np.split(inverse, np.cumsum([draw.size for draw in draws])[:-1])
            rows = [index.reshape(draw.shape) for index, draw in zip(split, draws, strict=True)]
        chunks = [
            self._codes_of(distinct[start : start + self.batch])
            for start in range(0, len(distinct), self.batch)
        ]
        self.encoded += len(distinct)
        return as_codes(np.concatenate(chunks), name="encode_factors(factors)"), rows

    def _codes_of(self, indices: Int[np.ndarray, " n"]) -> np.ndarray:
        assert self.encode_factors is not None
        codes = np.asarray(self.encode_factors(self.factors(indices)))
        if codes.ndim != 2 or len(codes) != len(indices):
            raise ValueError(
                f"encode_factors must return one row of codes for each of {len(indices)} combinations; "
                f"got shape {codes.shape}."
            )
        return codes


def _strides(sizes: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
    """How far apart the indices of two combinations are that differ by 1 in one factor."""
    return np.array([int(np.prod(sizes[k + 1 :])) for k in range(len(sizes))])


class FactorGridSample:
    """A balanced sample of the factor grid: every value of a factor occurs equally often.

    The sample is encoded once. Metrics then select samples that share the value of a factor. `indices` are the
    indices of the samples on the grid, `values` their factor values, `counts` the number of samples per value.
    """

    def __init__(self, sizes: Int[np.ndarray, " k"], size: int, rng: np.random.Generator) -> None:
        if size < 2 * sizes.max():
            raise ValueError(
                f"images must be at least {2 * sizes.max()}, twice the values of the largest factor; got {size}."
            )
        num_combinations = int(np.prod(sizes, dtype=object))
        strides = _strides(sizes)
        self.is_full_grid = num_combinations <= size
        if self.is_full_grid:
            self.indices = np.arange(num_combinations)
            values = self.indices[:, None] // strides % sizes
        else:
            values = np.stack([rng.permutation(np.arange(size) % count) for count in sizes], axis=1)
            self.indices = values @ strides
        self.values = values
        # Per factor: the samples sorted by its value, and the number of samples with each value.
        self.sorted_samples = [np.argsort(column, kind="stable") for column in values.T]
        self.counts = [
            np.bincount(column, minlength=count) for column, count in zip(values.T, sizes, strict=True)
        ]

    def sample_with_value(
        self, factor: int, values: Int[np.ndarray, "..."], rng: np.random.Generator
    ) -> Int[np.ndarray, "..."]:
        """For each of `values`, the number of a random sample in which `factor` has this value."""
        counts = self.counts[factor]
        first = np.cumsum(counts) - counts
        return self.sorted_samples[factor][first[values] + rng.integers(0, counts[values])]

    def sample_groups(
        self, factor: int, values: Int[np.ndarray, " v"], size: int, rng: np.random.Generator
    ) -> Int[np.ndarray, "v size"]:
        """For each of `values`, a group of samples in which `factor` has this value.

        Groups without repeated samples are distributed like groups from the full grid; repetitions would make scores
        noisier. Therefore a group steps through the samples with its value, from a random start with a random step
        size that is coprime to their number. On the full grid, or if a value has too few samples, groups are sampled
        with replacement.
        """
        counts = self.counts[factor]
        if self.is_full_grid or counts.min() < size:
            return self.sample_with_value(factor, np.repeat(values[:, None], size, axis=1), rng)
        steps = np.zeros(len(values), dtype=np.int64)
        for count in np.unique(counts):
            has_count = counts[values] == count
            coprime = np.flatnonzero(np.gcd(np.arange(count), count) == 1)
            steps[has_count] = rng.choice(coprime, has_count.sum())
        start = rng.integers(0, counts[values])
        offsets = (start[:, None] + steps[:, None] * np.arange(size)) % counts[values, None]
        return self.sorted_samples[factor][(np.cumsum(counts) - counts)[values, None] + offsets]
