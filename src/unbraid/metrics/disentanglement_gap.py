"""Disentanglement gap: linear probes show whether each strand encodes one factor. Burns et al., 2021, Unsupervised
Disentanglement without Autoencoding, ICML workshop, Sec. 3.3; the score is ours."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes, as_factors
from unbraid.metrics.probe import as_columns, probe

NEAR_CHANCE = 0.05  # accuracies up to this much above chance count as chance
REPEATED = 0.01  # a strand within this of the whole code predicts a factor equally well


class DisentanglementGap(NamedTuple):
    score: float  # below 0 if one strand predicts two factors best
    accuracy: dict[str, float]  # test accuracy of each probe, by strand and factor: `whole.digit`, `z0.digit`
    gap: dict[
        str, float
    ]  # per factor, the absolute difference of C(z0) and C(z1), or of the best two strands
    chance: dict[str, float]  # accuracy per factor of always predicting the most frequent value
    kept: float  # minimum over factors of the accuracy of the assigned strand minus that of the whole code
    diagonal: float  # 1 if every factor is predicted best by a different strand, otherwise 0
    random: float  # 1 if no strand predicts any factor better than chance (degenerate), otherwise 0
    emptied: float  # 1 if some strands, but not all, predict no factor better than chance, otherwise 0
    repeated: float  # number of factors that every strand predicts as well as the whole code
    n: int
    n_test: int
    inverse_penalty: float

    higher_is_better = True
    bounds = (-1.0, 1.0)
    undirected = ("accuracy", "chance", "random", "emptied", "repeated")


def disentanglement_gap(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    test_codes: np.ndarray,
    test_factors: np.ndarray,
    inner_strands: Mapping[str, Sequence[int]],
    names: Sequence[str] | None = None,
    inverse_penalty: float = 1.0,
) -> DisentanglementGap:
    r"""Smallest gap in probe accuracy between the strand of a factor and every other strand.

    .. math:: \max_π \min_k \left( C_k(z_{π(k)}) - \max_{j ≠ π(k)} C_k(z_j) \right)

    The maximum is over the assignments π of a different strand to each of the first K factors. C_k(z_j) is the test
    accuracy of a linear probe for factor k on strand j, and K the smaller of the numbers of strands and factors. An
    empty strand does not raise the score. Further factors are probed, but do not affect the score. A strand counts as
    at chance up to 5 points above it, and as good as the whole code down to 1 point below it.

    Args:
        codes: Training codes of the probes.
        factors: Factor values of the training codes.
        test_codes: Test codes of the probes.
        test_factors: Factor values of the test codes.
        inner_strands: Columns of each strand.
        names: Names of the factors; default: factor_0, factor_1, ….
        inverse_penalty: Inverse L2 penalty of the probes, see `probe`; default: 1.
    """
    codes, test_codes = as_codes(codes), as_codes(test_codes, name="test_codes", columns=codes.shape[1])
    factors = as_factors(factors, samples=len(codes))
    test_factors = as_factors(
        test_factors, samples=len(test_codes), columns=factors.shape[1], name="test_factors", varying=False
    )
    names = [f"factor_{k}" for k in range(factors.shape[1])] if names is None else list(names)
    if len(names) != factors.shape[1]:
        raise ValueError(f"there must be a name for each of {factors.shape[1]} factors; got {names}.")
    if len(inner_strands) < 2:
        raise ValueError(f"a gap needs at least two strands; got {len(inner_strands)}.")
    inputs = {"whole": range(codes.shape[1])} | dict(inner_strands)
    table, chances = np.zeros((len(inputs), len(names))), {}
    for row, (strand, columns) in enumerate(inputs.items()):
        chosen = as_columns(list(columns), codes.shape[1], strand)
        for column, name in enumerate(names):
            result = probe(
                codes[:, chosen],
                factors[:, column],
                test_codes=test_codes[:, chosen],
                test_labels=test_factors[:, column],
                inverse_penalty=inverse_penalty,
            )
            table[row, column], chances[name] = result.score, result.chance
    chance = np.array([chances[name] for name in names])
    return _summary(table, chance, list(inputs), names)._replace(
        n=len(codes), n_test=len(test_codes), inverse_penalty=inverse_penalty
    )


def _summary(
    table: Float[np.ndarray, "inputs k"], chance: Float[np.ndarray, " k"], inputs: list[str], names: list[str]
) -> DisentanglementGap:
    """Scores of a table of accuracies, whose first row is that of the whole code."""
    whole, strands = table[0], table[1:]
    count = min(strands.shape)  # number of factors that affect the score
    orders = permutations(range(len(strands)), count)
    score, kept = max(_assigned(whole, strands, order) for order in orders)
    second, first = np.sort(strands, axis=0)[-2:]
    best = strands[:, :count].argmax(axis=0)
    predicted = strands > chance + NEAR_CHANCE
    as_well = (strands >= whole - REPEATED).all(axis=0) & predicted.all(axis=0)
    return DisentanglementGap(
        score=score,
        accuracy={
            f"{strand}.{name}": float(table[row, column])
            for row, strand in enumerate(inputs)
            for column, name in enumerate(names)
        },
        gap={name: float(first[column] - second[column]) for column, name in enumerate(names)},
        chance={name: float(chance[column]) for column, name in enumerate(names)},
        kept=kept,
        diagonal=float(len(set(best)) == count and bool((first > second)[:count].all())),
        random=float(not predicted.any()),
        emptied=float(bool(predicted.any()) and not bool(predicted.any(axis=1).all())),
        repeated=float(as_well.sum()),
        n=0,
        n_test=0,
        inverse_penalty=0.0,
    )


def _assigned(
    whole: Float[np.ndarray, " k"], inner_strands: Float[np.ndarray, "s k"], order: tuple[int, ...]
) -> tuple[float, float]:
    """Minimum signed gap if factor k is assigned the strand `order[k]`, and minimum difference from the whole code."""
    gaps, keeps = [], []
    for factor, strand in enumerate(order):
        others = np.delete(inner_strands[:, factor], strand)
        gaps.append(inner_strands[strand, factor] - others.max())
        keeps.append(inner_strands[strand, factor] - whole[factor])
    return float(min(gaps)), float(min(keeps))
