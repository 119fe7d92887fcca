"""Number of independent variations of the standard deviations within augmentation sets: condition (iii) of
Self-supervised Disentangled Representation Learning, 2021, Theorem 1."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import polygamma

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.spectrum import spectrum


class StdRank(NamedTuple):
    score: float  # the rank: number of independent variations of the log stds between sets
    needed: float  # number of informative dimensions; the condition holds if the score reaches it
    min_ratio: float  # minimum variance of the log ratio of the stds, over pairs of dimensions
    eigenvalues: Float[
        np.ndarray, " d"
    ]  # of the covariance of the log stds, less the sampling error, in descending order
    ratios: Float[
        np.ndarray, "d d"
    ]  # variance of the log ratio of the stds of each pair of dimensions, less the sampling error
    n: int  # sets

    higher_is_better = True
    bounds = (0.0, None)
    undirected = ("needed",)


def std_rank(set_codes: np.ndarray, codes: np.ndarray) -> StdRank:
    r"""Rank of the covariance of the log standard deviations within sets, over the informative dimensions.

    Higher is better up to `needed`. A factorial Gaussian has the coefficients :math:`(μ_i/σ_i^2, -1/2σ_i^2)`.
    Condition (iii) requires that they vary independently with the observation. If the standard deviations are the same
    for all sets, or vary in the same proportion, the code is identified only up to a rotation: two dimensions are
    distinguished only if the ratio of their standard deviations varies.

    The logarithm of the standard deviation of m samples has the sampling variance ψ'((m - 1)/2)/4. This is subtracted
    from the eigenvalues; an eigenvalue counts if the rest exceeds four of its standard errors.

    Args:
        set_codes: Codes of n sets of m augmentations, (n, m, d).
        codes: Codes of observations, (N, d), whose spectrum selects the informative dimensions.
    """
    sets_of_codes = np.asarray(set_codes, dtype=np.float64)
    if sets_of_codes.ndim != 3 or sets_of_codes.shape[0] < 2 or sets_of_codes.shape[1] < 3:
        raise ValueError(
            "set_codes must have shape (sets, members, dimensions), at least 2 sets of 3 members; "
            f"got {sets_of_codes.shape}."
        )
    if not np.isfinite(sets_of_codes).all():
        raise ValueError("set_codes must be finite; some are NaN or infinite.")
    codes = as_codes(codes, columns=sets_of_codes.shape[2])
    wide = spectrum(codes)
    informative = wide.order[: int(wide.score)]
    sets, members, d = *sets_of_codes.shape[:2], len(informative)
    stds = sets_of_codes[:, :, informative].std(axis=1)
    logs = np.log(np.maximum(stds, np.finfo(np.float32).tiny))
    chance = polygamma(1, (members - 1) / 2) / 4
    covariance = np.atleast_2d(np.cov(logs, rowvar=False))
    eigenvalues = np.linalg.eigvalsh(covariance)[::-1] - chance
    # Standard error of the largest of d eigenvalues.
    error = chance * np.sqrt(2 / (sets - 1)) * (1 + np.sqrt(d))
    ratios = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance - 2 * chance
    np.fill_diagonal(ratios, 0.0)
    rank = float((eigenvalues > 4 * error).sum())
    min_ratio = float(ratios[~np.eye(d, dtype=bool)].min(initial=np.inf if d > 1 else 0.0))
    return StdRank(rank, float(d), min_ratio, eigenvalues, ratios, sets)
