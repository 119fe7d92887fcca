"""Linear probes for every factor on a code or a strand, as in Reconstruction for Disentanglement, Contrast for
Invariance, 2022: nuisances should not be predictable from the class strand, nor the class from the nuisance strand."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from unbraid.metrics.arrays import as_codes, as_factors, as_labels
from unbraid.metrics.probe import probe


class FactorProbe(NamedTuple):
    score: float  # mean over factors, from 0 (chance) to 1 (always correct)
    accuracy: dict[str, float]  # test accuracy of the probe of each factor
    chance: dict[str, float]  # test accuracy of always predicting the most frequent value
    n: int
    n_test: int
    inverse_penalty: float

    higher_is_better = None
    bounds = (0.0, 1.0)


def factor_probe(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    rng: np.random.Generator,
    names: Sequence[str] | None = None,
    instances: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    max_samples: int = 10_000,
    inverse_penalty: float = 1.0,
) -> FactorProbe:
    r"""Accuracy of a linear probe for each factor, from 0 (chance) to 1 (always correct).

    .. math:: 1/K \sum_k \max(0, (C_k - c_k) / (1 - c_k))

    with C_k the test accuracy for factor k and c_k that of always predicting its most frequent value. Of at most
    `max_samples` samples, drawn by `rng`, two thirds train and one third tests. `instances` has the instance of each
    sample; no instance is in both. `rows` has the observation that each sample is a copy of, so that `n` and `n_test`
    count it once. The classifier is that of `probe`.
    """
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    names = [f"factor_{k}" for k in range(factors.shape[1])] if names is None else list(names)
    if len(names) != factors.shape[1]:
        raise ValueError(
            f"factor_probe needs a name for each of {factors.shape[1]} factors; got {', '.join(names)}."
        )
    chosen = rng.permutation(len(codes))[:max_samples]
    codes, factors = codes[chosen], factors[chosen]
    ids = np.arange(len(codes)) if instances is None else as_labels(instances[chosen], samples=len(codes))
    observations = np.arange(len(codes)) if rows is None else as_labels(rows[chosen], samples=len(codes))
    tests = _third(ids, rng)
    accuracy, chance = {}, {}
    for name, column in zip(names, factors.T, strict=True):
        if len(np.unique(column[~tests])) < 2:
            continue  # a value is too rare to be in both
        read = probe(
            codes[~tests],
            column[~tests],
            test_codes=codes[tests],
            test_labels=column[tests],
            inverse_penalty=inverse_penalty,
        )
        accuracy[name], chance[name] = read.score, read.chance
    shares = [max(0.0, (accuracy[name] - chance[name]) / max(1 - chance[name], 1e-9)) for name in accuracy]
    return FactorProbe(
        score=float(np.mean(shares)) if shares else 0.0,
        accuracy=accuracy,
        chance=chance,
        n=len(np.unique(observations[~tests])),
        n_test=len(np.unique(observations[tests])),
        inverse_penalty=inverse_penalty,
    )


def _third(ids: np.ndarray, rng: np.random.Generator) -> Bool[np.ndarray, " n"]:
    """Mask of the test samples: those of a third of the instances."""
    numbers = np.unique(ids)
    if len(numbers) < 3:
        raise ValueError(
            f"factor_probe needs at least 3 instances for a train/test split; got {len(numbers)}."
        )
    return np.isin(ids, rng.permutation(numbers)[: len(numbers) // 3])
