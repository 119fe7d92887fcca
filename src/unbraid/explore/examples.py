"""Observations to explore from: drawn alike every time, encoded beforehand, with what is known of them."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.model import Model
from unbraid.types import Codes, Observations

SAMPLE = 512  # observations that ranges, spreads and averages are taken from
POOL = 4  # as many are searched for neighbours as there are examples to choose, times this
PART = "part"  # the factor that tells target from background


class Factor(NamedTuple):
    """What one factor is for each observation; -1 where that is not known."""

    name: str
    values: tuple[str, ...]  # what its values are called
    of: Int[np.ndarray, " n"]


class Examples(NamedTuple):
    """Observations with their codes and factors."""

    x: Observations
    codes: Codes
    given: Tensor | None  # what a conditional method is given with each
    factors: tuple[Factor, ...]
    label: str | None  # the factor that is the class, where there is one


def drawn(model: Model, dataset: Dataset, *, size: int = SAMPLE, seed: int = 0) -> Examples:
    """Observations of a dataset; of target and background, two and one in turn."""
    own = _observed(model, dataset, size, seed)
    if dataset.background is None:
        return own
    other = _observed(model, dataset.background, size // 2, seed)
    order = _in_turn(len(own.x), len(other.x))
    return _joined(own, other, order)


def made(model: Model, *, size: int = SAMPLE, seed: int = 0) -> Examples:
    """Observations that the model makes of codes of its prior, where its dataset cannot be opened."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        codes = model.method.prior(size)
    return Examples(model.decode(codes), codes, None, (), None)


def class_averages(examples: Examples, factor: Factor) -> Float[np.ndarray, "v d"]:
    """The mean code of the observations with each value of a factor, as `Strands.average` has it."""
    codes = examples.codes.numpy()
    everyone = codes.mean(0)
    return np.stack(
        [
            codes[factor.of == value].mean(0) if (factor.of == value).any() else everyone
            for value in range(len(factor.values))
        ]
    )


def _observed(model: Model, dataset: Dataset, size: int, seed: int) -> Examples:
    tables = dataset.to("cpu")
    rows = tables.draw(size, Generator().manual_seed(seed))
    x, values = tables.observe(rows), tables.factors(rows)
    given = model.method.given(*tables.roles(values))
    factors = []
    if values is not None and tables.space is not None:
        for name, column in zip(tables.space.names, values.T.numpy(), strict=True):
            if name == dataset.instance or tables.space.sizes[tables.space.column(name)] < 2:
                continue
            names = dataset.value_names.get(name)
            called = range(tables.space.sizes[tables.space.column(name)]) if names is None else names
            factors.append(Factor(name, tuple(map(str, called)), column))
    return Examples(x, model.encode(x, given=given), given, tuple(factors), dataset.label)


def _in_turn(own: int, other: int) -> Tensor:
    """Places in the two laid one behind the other: two of the first, one of the second, and again."""
    places = [(place * 2, place) for place in range(own)] + [
        (place * 4 + 3, own + place) for place in range(other)
    ]
    return torch.tensor([place for _, place in sorted(places)])


def _joined(own: Examples, other: Examples, order: Tensor) -> Examples:
    part = np.repeat([0, 1], [len(own.x), len(other.x)])
    factors = [Factor(PART, ("target", "background"), part)]
    unknown = np.full(len(other.x), -1)
    factors += [Factor(name, values, np.concatenate([of, unknown])) for name, values, of in own.factors]
    places = order.numpy()
    given = None if own.given is None or other.given is None else torch.cat([own.given, other.given])[order]
    return Examples(
        torch.cat([own.x, other.x])[order],
        torch.cat([own.codes, other.codes])[order],
        given,
        tuple(factor._replace(of=factor.of[places]) for factor in factors),
        own.label or PART,
    )
