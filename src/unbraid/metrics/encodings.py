"""Codes of factor combinations, each combination encoded once however often it is drawn."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_codes

Represent = Callable[[np.ndarray], np.ndarray] | np.ndarray

DENSE = 1 << 26  # spaces up to this size mark what was drawn in a table; larger ones sort the draws


def as_sizes(space: object) -> Int[np.ndarray, " k"]:
    """The number of values of each factor, from a sequence or from an object with `.sizes`."""
    sizes = np.asarray(getattr(space, "sizes", space))
    if sizes.ndim != 1 or sizes.size < 2 or sizes.dtype.kind not in "iu":
        raise ValueError(f"space must list the sizes of at least two factors as integers; got {space!r}.")
    if (sizes < 2).any():
        raise ValueError(
            f"each factor must take at least two values; got sizes {sizes.tolist()}; "
            "leave out the factors that never change."
        )
    return sizes.astype(np.int64)


def as_images(images: int | None, protocol: str) -> int | None:
    """The size of a design, which only the protocol `grid` has."""
    if images is not None and protocol != "grid":
        raise ValueError(f"images belongs to protocol 'grid'; got protocol {protocol!r}; leave it out.")
    return images


class Encodings:
    """Codes on a factor grid, looked up by the place of a combination on it.

    Places run in row-major mixed radix: the last factor changes fastest. `represent` is a function of a
    table of at most `batch` factor combinations, or the codes of the whole grid as a table with one row a
    place.
    """

    def __init__(self, represent: Represent, space: object, batch: int = 64) -> None:
        if batch < 1:
            raise ValueError(f"batch must be at least 1; got {batch}.")
        self.batch = batch
        self.sizes = as_sizes(space)
        self.places = int(np.prod(self.sizes, dtype=object))
        if self.places >= 2**62:
            raise ValueError(f"a factor space must have fewer than 2^62 combinations; got {self.places}.")
        self.strides = np.array([int(np.prod(self.sizes[k + 1 :])) for k in range(len(self.sizes))])
        self.represent = represent if callable(represent) else None
        self.table = np.empty((0, 0))
        if self.represent is None:
            self.table = as_codes(represent, name="codes_on_grid", samples=self.places)  # type: ignore[arg-type]
        self.encoded = 0  # how many combinations were given to `represent`

    def factors(self, places: Int[np.ndarray, " n"]) -> Int[np.ndarray, "n k"]:
        return places[:, None] // self.strides % self.sizes

    def encode(self, draws: Sequence[np.ndarray]) -> tuple[Float[np.ndarray, "rows d"], list[np.ndarray]]:
        """The codes of all places in `draws`, one row for each different place, and each draw's rows."""
        if self.represent is None:
            return self.table, list(draws)
        if self.places <= DENSE:
            drawn = np.zeros(self.places, dtype=bool)
            for draw in draws:
                drawn[draw] = True
            distinct = np.flatnonzero(drawn)
            row_of = np.cumsum(drawn, dtype=np.int32) - 1
            rows = [row_of[draw] for draw in draws]
        else:
            distinct, inverse = np.unique(np.concatenate([d.ravel() for d in draws]), return_inverse=True)
            parts = np.split(inverse, np.cumsum([draw.size for draw in draws])[:-1])
            rows = [part.reshape(draw.shape) for part, draw in zip(parts, draws, strict=True)]
        chunks = [
            self._codes_of(distinct[start : start + self.batch])
            for start in range(0, len(distinct), self.batch)
        ]
        self.encoded += len(distinct)
        return as_codes(np.concatenate(chunks), name="represent(factors)"), rows

    def _codes_of(self, places: Int[np.ndarray, " n"]) -> np.ndarray:
        assert self.represent is not None
        codes = np.asarray(self.represent(self.factors(places)))
        if codes.ndim != 2 or len(codes) != len(places):
            raise ValueError(
                f"represent must give one row of codes for each of {len(places)} combinations; "
                f"got shape {codes.shape}."
            )
        return codes


class Design:
    """A balanced sample of the grid, which stands for all of it: every value of a factor equally often.

    Encoded once, it serves draws with one factor fixed: the samples that share a value of the factor.
    """

    def __init__(self, sizes: Int[np.ndarray, " k"], points: int, rng: np.random.Generator) -> None:
        if points < 2 * sizes.max():
            raise ValueError(
                f"images must be at least {2 * sizes.max()}, twice the values of the largest factor; got {points}."
            )
        places = int(np.prod(sizes, dtype=object))
        strides = np.array([int(np.prod(sizes[k + 1 :])) for k in range(len(sizes))])
        self.whole = places <= points
        if self.whole:
            self.places = np.arange(places)
            values = self.places[:, None] // strides % sizes
        else:
            values = np.stack([rng.permutation(np.arange(points) % size) for size in sizes], axis=1)
            self.places = values @ strides
        self.values = values
        # For each factor the samples sorted by its value, and where each value's run of them starts.
        self.members = [np.argsort(column, kind="stable") for column in values.T]
        self.counts = [
            np.bincount(column, minlength=size) for column, size in zip(values.T, sizes, strict=True)
        ]

    def sharing(
        self, factor: int, values: Int[np.ndarray, "..."], rng: np.random.Generator
    ) -> Int[np.ndarray, "..."]:
        """For each of `values` a random sample of the design whose `factor` has it."""
        counts = self.counts[factor]
        first = np.cumsum(counts) - counts
        return self.members[factor][first[values] + rng.integers(0, counts[values])]

    def groups(
        self, factor: int, values: Int[np.ndarray, " v"], size: int, rng: np.random.Generator
    ) -> Int[np.ndarray, "v size"]:
        """For each of `values` a group of samples of the design whose `factor` has it.

        A group of different samples of a random design is a random group of the whole space; one that
        repeats some would vary more. So a group walks through the samples of its value, from a random
        start with a random step that has no divisor in common with their number. On the whole space, or
        where a value has too few samples, groups are drawn with repeats.
        """
        counts = self.counts[factor]
        if self.whole or counts.min() < size:
            return self.sharing(factor, np.repeat(values[:, None], size, axis=1), rng)
        steps = np.zeros(len(values), dtype=np.int64)
        for count in np.unique(counts):
            here = counts[values] == count
            coprime = np.flatnonzero(np.gcd(np.arange(count), count) == 1)
            steps[here] = rng.choice(coprime, here.sum())
        start = rng.integers(0, counts[values])
        walk = (start[:, None] + steps[:, None] * np.arange(size)) % counts[values, None]
        return self.members[factor][(np.cumsum(counts) - counts)[values, None] + walk]
