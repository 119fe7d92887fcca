"""Unsupervised disentanglement ranking. Duan et al., 2020, Unsupervised Model Selection for Variational
Disentangled Representation Learning, arXiv:1905.12614."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from unbraid.metrics.arrays import as_codes, require_protocol, standardize, varying
from unbraid.metrics.correlation import correlation

PROTOCOLS = ("lasso", "spearman")


class UDR(NamedTuple):
    score: float  # UDR of the best model
    best: int
    per_model: Float[np.ndarray, " m"]  # median over the other models
    pairwise: Float[np.ndarray, "m m"]  # [i, j]: agreement of model i with model j; diagonal 0
    n: int
    protocol: str

    higher_is_better = True
    bounds = (0.0, None)


def udr(
    models: Sequence[np.ndarray],
    *,
    kl: Sequence[np.ndarray] | None = None,
    protocol: str = "lasso",
    alpha: float = 0.1,
    threshold: float = 0.01,
) -> UDR:
    r"""Agreement of the dimensions of several models; the score is that of the best model.

    .. math:: UDR_{ij} = ½ (mean_b \max_a R_{ab}^2 / \sum_a R_{ab} + mean_a \max_b R_{ab}^2 / \sum_b R_{ab})

    R_ab is the strength of dimension a of model i in dimension b of model j: the absolute weight of a lasso (penalty
    `alpha`) on standardized codes, or the absolute Spearman correlation. `models` has one table of codes per model, of
    the same samples in the same order. `kl` has the mean KL per dimension of each model, in nats. Dimensions at or
    below `threshold` are left out; without `kl`, only constant dimensions are.
    """
    require_protocol(protocol, PROTOCOLS)
    if len(models) < 2:
        raise ValueError(f"UDR compares models with each other: pass at least two tables; got {len(models)}.")
    if kl is not None and len(kl) != len(models):
        raise ValueError(f"kl must hold one row per model; got {len(kl)} for {len(models)} models.")
    first = as_codes(models[0], name="models[0]")
    tables = [as_codes(table, name=f"models[{i}]", samples=len(first)) for i, table in enumerate(models)]
    informative = [varying(table) for table in tables]
    if kl is not None:
        informative = [
            mask & _above(row, threshold, len(mask), f"kl[{i}]")
            for i, (mask, row) in enumerate(zip(informative, kl, strict=True))
        ]
    kept = [standardize(table[:, mask])[0] for table, mask in zip(tables, informative, strict=True)]
    count = len(tables)
    pairwise = np.zeros((count, count))
    for i in range(count):
        for j in range(count):
            if i != j and kept[i].shape[1] and kept[j].shape[1]:
                pairwise[i, j] = _agreement(_relation(kept[i], kept[j], protocol, alpha))
    others = ~np.eye(count, dtype=bool)
    per_model = np.array([np.median(pairwise[others[:, j], j]) for j in range(count)])
    best = int(per_model.argmax())
    return UDR(float(per_model[best]), best, per_model, pairwise, len(first), protocol)


def _above(kl: np.ndarray, threshold: float, columns: int, name: str) -> Bool[np.ndarray, " d"]:
    kl = np.asarray(kl)
    if kl.shape != (columns,):
        raise ValueError(f"{name} must have one value per dimension, {columns}; got shape {kl.shape}.")
    return kl > threshold


def _relation(
    first: Float[np.ndarray, "n d"], second: Float[np.ndarray, "n e"], protocol: str, alpha: float
) -> Float[np.ndarray, "d e"]:
    if protocol == "spearman":
        return np.abs(correlation(first, second, "spearman"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # close enough to convergence after 1,000 steps
        weights = Lasso(alpha=alpha).fit(first, second).coef_
    return np.abs(weights).reshape(second.shape[1], first.shape[1]).T


def _agreement(relation: Float[np.ndarray, "d e"]) -> float:
    """UDR of two models: 1 if their dimensions match one to one with strength 1."""
    halves = []
    for axis in (0, 1):
        total = relation.sum(axis=axis)
        peak = relation.max(axis=axis) ** 2
        halves.append(np.divide(peak, total, out=np.zeros_like(total), where=total > 0).mean())
    return float(np.mean(halves))
