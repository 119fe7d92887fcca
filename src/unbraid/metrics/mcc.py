"""Mean correlation coefficient. Hyvärinen and Morioka, 2016, Unsupervised Feature Extraction by
Time-Contrastive Learning and Nonlinear ICA, arXiv:1605.06336; Khemakhem et al., 2020, arXiv:2002.11537."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from unbraid.metrics.arrays import as_codes, require_protocol, varying
from unbraid.metrics.correlation import CORRELATIONS, correlation


class MCC(NamedTuple):
    score: float  # mean over factors, in [0, 1]
    per_factor: Float[np.ndarray, " k"]
    match: Int[np.ndarray, " k"]  # the dimension matched to each factor; -1 without one
    correlation: Float[np.ndarray, "d k"]  # signed correlations
    n: int
    protocol: str

    higher_is_better = True
    bounds = (0.0, 1.0)


def mcc(codes: np.ndarray, factors: np.ndarray, *, protocol: str = "pearson") -> MCC:
    r"""Mean correlation of factors and dimensions under the best one-to-one match.

    .. math:: MCC = 1/K \max_π \sum_k |corr(z_{π(k)}, v_k)|

    `protocol` is the correlation: `pearson` (up to scale and sign) or `spearman` (up to any monotone
    map). Factors may be real numbers. Extra dimensions remain unmatched; with fewer dimensions
    than factors, unmatched factors count 0.
    """
    require_protocol(protocol, CORRELATIONS)
    codes = as_codes(codes)
    factors = as_codes(factors, name="factors", samples=len(codes))
    if (constant := np.flatnonzero(~varying(factors))).size:
        raise ValueError(
            f"factors must each take at least two values; columns {constant.tolist()} take one; drop them."
        )
    table = correlation(codes, factors, protocol)
    rows, columns = linear_sum_assignment(np.abs(table), maximize=True)
    match = np.full(factors.shape[1], -1)
    match[columns] = rows
    per_factor = np.zeros(factors.shape[1])
    per_factor[columns] = np.abs(table[rows, columns])
    return MCC(float(per_factor.mean()), per_factor, match, table, len(codes), protocol)
