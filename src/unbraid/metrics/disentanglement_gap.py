"""Whether each part of a code tells a factor of its own, by linear probes. Burns et al., 2021, Unsupervised
Disentanglement without Autoencoding, ICML workshop, Sec. 3.3; the score is ours."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes, as_factors
from unbraid.metrics.probe import as_columns, probe

NEAR_CHANCE = 0.05  # above which a probe has learnt something
REPEATED = 0.01  # below which a part tells a factor as well as the whole


class DisentanglementGap(NamedTuple):
    score: float  # at most 1; below 0 where some factor is told best by a part that another one needs
    accuracy: dict[str, float]  # of a probe, by part and factor: `whole.digit`, `z0.digit`
    gap: dict[str, float]  # by factor, how far apart C(z0) and C(z1) are; of more parts, the best two
    chance: dict[str, float]  # by factor, of always naming the commonest value
    kept: (
        float  # the least by which a factor's own part tells it better than the whole code; below 0 for worse
    )
    diagonal: float  # 1 where every factor is told best by a part of its own, else 0
    random: float  # 1 where no part tells any factor better than chance: a degenerate solution
    emptied: float  # 1 where some part, not all of them, tells no factor better than chance
    repeated: float  # how many factors every part tells as well as the whole
    n: int
    n_test: int
    inverse_penalty: float


def disentanglement_gap(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    test_codes: np.ndarray,
    test_factors: np.ndarray,
    parts: Mapping[str, Sequence[int]],
    names: Sequence[str] | None = None,
    inverse_penalty: float = 1.0,
) -> DisentanglementGap:
    r"""By how much each of the first K factors is told better by a part of its own than by any other.

    .. math:: \max_π \min_k \left( C_k(z_{π(k)}) - \max_{j ≠ π(k)} C_k(z_j) \right)

    over the ways π to give each of the first K factors a part of its own, with C_k(z_j) the test accuracy of a linear
    probe for factor k on part j; K is the number of parts, or of factors where they are fewer. A code cannot win it by
    emptying one part. Further factors are probed too and do not count. A part is near chance within 5 points of it, and
    tells as well as the whole within 1.

    Args:
        codes: What the probes learn from.
        factors: The values that they learn.
        test_codes: What they are tested on.
        test_factors: The values of those.
        parts: The columns of each part.
        names: Of the factors.
        inverse_penalty: Of the probes, see `probe`.
    """
    codes, test_codes = as_codes(codes), as_codes(test_codes, name="test_codes", columns=codes.shape[1])
    factors = as_factors(factors, samples=len(codes))
    test_factors = as_factors(
        test_factors, samples=len(test_codes), columns=factors.shape[1], name="test_factors", varying=False
    )
    names = [f"factor_{k}" for k in range(factors.shape[1])] if names is None else list(names)
    if len(names) != factors.shape[1]:
        raise ValueError(f"there must be a name for each of {factors.shape[1]} factors; got {names}.")
    if len(parts) < 2:
        raise ValueError(f"a gap needs at least two parts; got {len(parts)}.")
    inputs = {"whole": range(codes.shape[1])} | dict(parts)
    table, chances = np.zeros((len(inputs), len(names))), {}
    for row, (part, columns) in enumerate(inputs.items()):
        chosen = as_columns(list(columns), codes.shape[1], part)
        for column, name in enumerate(names):
            read = probe(
                codes[:, chosen],
                factors[:, column],
                test_codes=test_codes[:, chosen],
                test_labels=test_factors[:, column],
                inverse_penalty=inverse_penalty,
            )
            table[row, column], chances[name] = read.score, read.chance
    chance = np.array([chances[name] for name in names])
    return _summary(table, chance, list(inputs), names)._replace(
        n=len(codes), n_test=len(test_codes), inverse_penalty=inverse_penalty
    )


def _summary(
    table: Float[np.ndarray, "inputs k"], chance: Float[np.ndarray, " k"], inputs: list[str], names: list[str]
) -> DisentanglementGap:
    """What the accuracies say; the first row is that of the whole code."""
    whole, parts = table[0], table[1:]
    count = min(parts.shape)  # factors that count
    orders = permutations(range(len(parts)), count)
    score, kept = max(_assigned(whole, parts, order) for order in orders)
    second, first = np.sort(parts, axis=0)[-2:]
    best = parts[:, :count].argmax(axis=0)
    told = parts > chance + NEAR_CHANCE
    as_well = (parts >= whole - REPEATED).all(axis=0) & told.all(axis=0)
    return DisentanglementGap(
        score=score,
        accuracy={
            f"{part}.{name}": float(table[row, column])
            for row, part in enumerate(inputs)
            for column, name in enumerate(names)
        },
        gap={name: float(first[column] - second[column]) for column, name in enumerate(names)},
        chance={name: float(chance[column]) for column, name in enumerate(names)},
        kept=kept,
        diagonal=float(len(set(best)) == count and bool((first > second)[:count].all())),
        random=float(not told.any()),
        emptied=float(bool(told.any()) and not bool(told.any(axis=1).all())),
        repeated=float(as_well.sum()),
        n=0,
        n_test=0,
        inverse_penalty=0.0,
    )


def _assigned(
    whole: Float[np.ndarray, " k"], parts: Float[np.ndarray, "s k"], order: tuple[int, ...]
) -> tuple[float, float]:
    """The least signed gap when factor k is given the part `order[k]`, and how little each keeps of the whole."""
    gaps, keeps = [], []
    for factor, part in enumerate(order):
        others = np.delete(parts[:, factor], part)
        gaps.append(parts[part, factor] - others.max())
        keeps.append(parts[part, factor] - whole[factor])
    return float(min(gaps)), float(min(keeps))
