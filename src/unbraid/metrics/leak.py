"""What a code or a strand gives away: linear probes for every factor. So Reconstruction for Disentanglement,
Contrast for Invariance, 2022, is checked: what tells the class should tell no nuisance, and the reverse."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from unbraid.metrics.arrays import as_codes, as_factors, as_labels
from unbraid.metrics.probe import probe


class Leak(NamedTuple):
    score: float  # how far from chance (0) to certainty (1) factors are read, a mean over them
    accuracy: dict[str, float]  # of a probe for each factor, on samples it was not trained on
    chance: dict[str, float]  # of always naming the commonest value
    n: int
    n_test: int
    inverse_penalty: float


def leak(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    rng: np.random.Generator,
    names: Sequence[str] | None = None,
    instances: np.ndarray | None = None,
    most: int = 10_000,
    inverse_penalty: float = 1.0,
) -> Leak:
    r"""How well a linear classifier reads each factor off the code.

    .. math:: 1/K \sum_k \max(0, (C_k - c_k) / (1 - c_k))

    with C_k the test accuracy for factor k and c_k that of always naming its commonest value. Of at most `most`
    samples, drawn by `rng`, two thirds train and a third tests; `instances` numbers the things that samples show,
    and none of them is then in both. Each classifier is that of `probe`.
    """
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    names = [f"factor_{k}" for k in range(factors.shape[1])] if names is None else list(names)
    if len(names) != factors.shape[1]:
        raise ValueError(f"leak needs a name for each of {factors.shape[1]} factors; got {', '.join(names)}.")
    chosen = rng.permutation(len(codes))[:most]
    codes, factors = codes[chosen], factors[chosen]
    things = np.arange(len(codes)) if instances is None else as_labels(instances[chosen], samples=len(codes))
    tests = _third(things, rng)
    accuracy, chance = {}, {}
    for name, column in zip(names, factors.T, strict=True):
        if len(np.unique(column[~tests])) < 2:
            continue  # a value or two too rare to be in both parts
        read = probe(
            codes[~tests],
            column[~tests],
            test_codes=codes[tests],
            test_labels=column[tests],
            inverse_penalty=inverse_penalty,
        )
        accuracy[name], chance[name] = read.score, read.chance
    shares = [max(0.0, (accuracy[name] - chance[name]) / max(1 - chance[name], 1e-9)) for name in accuracy]
    return Leak(
        score=float(np.mean(shares)) if shares else 0.0,
        accuracy=accuracy,
        chance=chance,
        n=int((~tests).sum()),
        n_test=int(tests.sum()),
        inverse_penalty=inverse_penalty,
    )


def _third(things: np.ndarray, rng: np.random.Generator) -> Bool[np.ndarray, " n"]:
    """Which samples test: those of a third of the things."""
    numbers = np.unique(things)
    if len(numbers) < 3:
        raise ValueError(
            f"leak parts what samples show in two, and needs at least 3 of them; got {len(numbers)}."
        )
    return np.isin(things, rng.permutation(numbers)[: len(numbers) // 3])
