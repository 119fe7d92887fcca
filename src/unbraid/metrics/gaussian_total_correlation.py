"""Total correlation of the Gaussian fitted to the codes. Locatello et al., 2019, Challenging Common
Assumptions in the Unsupervised Learning of Disentangled Representations, arXiv:1811.12359."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from unbraid.metrics.arrays import as_codes, varying
from unbraid.metrics.correlation import correlation


class GaussianTotalCorrelation(NamedTuple):
    score: float  # nats; infinite if some dimensions are a linear map of others
    correlation: Float[np.ndarray, "a a"]  # correlations of the dimensions that vary
    varying: Bool[np.ndarray, " d"]
    n: int

    higher_is_better = False
    bounds = (0.0, None)


def gaussian_total_correlation(codes: np.ndarray) -> GaussianTotalCorrelation:
    r"""Total correlation of a Gaussian fitted to the codes, in nats.

    .. math:: KL(N(μ, Σ) ‖ \prod_j N(μ_j, Σ_{jj})) = -½ \log \det corr(z)

    Detects linear dependence only. On n samples of d independent dimensions the score is about d (d - 1) / 4n,
    not 0. Constant dimensions are left out.
    """
    codes = as_codes(codes)
    alive = varying(codes)
    if not alive.any():
        raise ValueError("the total correlation needs a code that varies; all codes are constant.")
    kept = codes[:, alive]
    if kept.shape[1] >= len(kept):
        raise ValueError(
            f"the total correlation of {kept.shape[1]} codes needs more samples than codes; got {len(kept)}."
        )
    table = correlation(kept, kept)
    np.fill_diagonal(table, 1.0)
    spectrum = np.linalg.eigvalsh(table)
    singular = spectrum[0] <= len(spectrum) * np.finfo(float).eps * spectrum[-1]
    score = np.inf if singular else max(0.0, -0.5 * np.log(spectrum).sum())
    return GaussianTotalCorrelation(float(score), table, alive, len(codes))
