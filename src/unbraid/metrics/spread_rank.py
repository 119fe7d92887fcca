"""Whether sets of augmentations can tell the axes of a code apart: condition (iii) of Self-supervised Disentangled
Representation Learning, 2021, Theorem 1."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import polygamma

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.spectrum import spectrum


class SpreadRank(NamedTuple):
    score: float  # the rank: in how many independent ways the log-spreads vary from set to set
    needed: float  # as many as there are codes that count
    least_ratio: (
        float  # the least variance, over pairs of codes, of the logarithm of the ratio of their spreads
    )
    eigenvalues: Float[
        np.ndarray, " d"
    ]  # of the log-spreads' covariance, without sampling error, largest first
    ratios: Float[
        np.ndarray, "d d"
    ]  # the variance of the log-ratio of each pair of codes, without sampling error
    n: int  # sets


def spread_rank(set_codes: np.ndarray, codes: np.ndarray) -> SpreadRank:
    r"""The rank of the sets' log-spreads across sets, of the codes above the knee of the spectrum.

    A factorial Gaussian has the coefficients :math:`(μ_i/σ_i^2, -1/2σ_i^2)`, and condition (iii) asks that they vary
    independently with the observation. Spreads that are the same for all sets leave a rotation of the codes free,
    and so do spreads that vary in the same proportion: a pair of codes is told apart only if the ratio of their
    spreads varies.

    The spreads of m samples vary by chance even where the true ones do not, by ψ'((m - 1)/2)/4 in their logarithm.
    That is taken off, and what is left counts if it is more than four of its standard errors.

    Args:
        set_codes: Codes of n sets of m augmentations, (n, m, d).
        codes: Codes of observations, (N, d), whose spectrum says which of the d count.
    """
    sets_of_codes = np.asarray(set_codes, dtype=np.float64)
    if sets_of_codes.ndim != 3 or sets_of_codes.shape[0] < 2 or sets_of_codes.shape[1] < 3:
        raise ValueError(
            "set_codes must be (sets, members, codes), at least 2 sets of 3 members; "
            f"got {sets_of_codes.shape}."
        )
    if not np.isfinite(sets_of_codes).all():
        raise ValueError("set_codes must be finite; some are NaN or infinite.")
    codes = as_codes(codes, columns=sets_of_codes.shape[2])
    wide = spectrum(codes)
    informative = wide.order[: int(wide.score)]
    sets, members, d = *sets_of_codes.shape[:2], len(informative)
    spreads = sets_of_codes[:, :, informative].std(axis=1)
    logs = np.log(np.maximum(spreads, np.finfo(np.float32).tiny))
    chance = polygamma(1, (members - 1) / 2) / 4
    covariance = np.atleast_2d(np.cov(logs, rowvar=False))
    eigenvalues = np.linalg.eigvalsh(covariance)[::-1] - chance
    error = chance * np.sqrt(2 / (sets - 1)) * (1 + np.sqrt(d))  # of a variance, and of the largest of d
    ratios = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance - 2 * chance
    np.fill_diagonal(ratios, 0.0)
    rank = float((eigenvalues > 4 * error).sum())
    least = float(ratios[~np.eye(d, dtype=bool)].min(initial=np.inf if d > 1 else 0.0))
    return SpreadRank(rank, float(d), least, eigenvalues, ratios, sets)
