"""Example observations of an explorer: a reproducible sample with codes and factors."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.data import Dataset
from unbraid.runs import Model
from unbraid.types import Codes, Observations

SAMPLE = 512  # observations for ranges, standard deviations and averages
POOL = 4  # observations searched for neighbors, per example
PART = "part"  # factor with the values target and background


class Factor(NamedTuple):
    """One factor, with the index of its value for each observation; -1 if unknown."""

    name: str
    values: tuple[str, ...]  # names of its values
    value_index: Int[np.ndarray, " n"]


class Examples(NamedTuple):
    """Observations with their codes and factors."""

    x: Observations
    codes: Codes
    condition: Tensor | None  # of a conditional method, per observation
    factors: tuple[Factor, ...]
    label: str | None  # factor that is the class


def examples_from_data(model: Model, dataset: Dataset, *, size: int = SAMPLE, seed: int = 0) -> Examples:
    """Observations of a dataset; with a background, two target observations and one background observation in turn."""
    target = _encode_sample(model, dataset, size, seed)
    if dataset.background is None:
        return target
    background = _encode_sample(model, dataset.background, size // 2, seed)
    return _interleave(target, background)


def examples_from_prior(model: Model, *, size: int = SAMPLE, seed: int = 0) -> Examples:
    """Observations decoded from samples of the prior, for a run whose dataset cannot be opened."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        codes = model.method.sample_prior(size)
    return Examples(model.decode(codes), codes, None, (), None)


def class_averages(examples: Examples, factor: Factor) -> Float[np.ndarray, "v d"]:
    """Mean code per value of a factor, as in `Strands.average`; the overall mean for values without observations."""
    codes = examples.codes.numpy()
    overall = codes.mean(0)
    return np.stack(
        [
            codes[factor.value_index == value].mean(0) if (factor.value_index == value).any() else overall
            for value in range(len(factor.values))
        ]
    )


def _encode_sample(model: Model, dataset: Dataset, size: int, seed: int) -> Examples:
    tables = dataset.to("cpu")
    rows = tables.sample_indices(size, Generator().manual_seed(seed))
    x, values = tables.observe(rows), tables.factors(rows)
    condition = model.method.condition_from(*tables.labels_and_nuisances(values))
    factors = []
    if values is not None and (space := tables.factor_space) is not None:
        for name, size_of_factor, column in zip(space.names, space.sizes, values.T.numpy(), strict=True):
            if name != dataset.instance and size_of_factor >= 2:
                names = dataset.value_names.get(name, range(size_of_factor))
                factors.append(Factor(name, tuple(map(str, names)), column))
    return Examples(x, model.encode(x, condition=condition), condition, tuple(factors), dataset.label)


def _interleave(target: Examples, background: Examples) -> Examples:
    """Two target observations and one background observation in turn."""
    n, m = len(target.x), len(background.x)
    positions = [2 * row for row in range(n)] + [4 * row + 3 for row in range(m)]
    order = torch.tensor(sorted(range(n + m), key=positions.__getitem__))
    unknown = np.full(m, -1)
    factors = [Factor(PART, ("target", "background"), np.repeat([0, 1], [n, m]))]
    factors += [Factor(name, values, np.concatenate([of, unknown])) for name, values, of in target.factors]
    condition = None
    if target.condition is not None and background.condition is not None:
        condition = torch.cat([target.condition, background.condition])[order]
    return Examples(
        torch.cat([target.x, background.x])[order],
        torch.cat([target.codes, background.codes])[order],
        condition,
        tuple(factor._replace(value_index=factor.value_index[order.numpy()]) for factor in factors),
        target.label or PART,
    )
