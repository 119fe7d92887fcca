"""Mutual information gap. Chen et al., 2018, arXiv:1802.04942, Sec. 4.

RMIG and JEMMIG use the same matrix: Do and Tran, 2020, arXiv:1908.09961. There RMIG differs from MIG by integrating
over q(z|x); on given codes it is the gap of MIG before the division. JEMMIG is scaled as in Zaidi et al., 2020,
arXiv:2012.09276, so that 1 is best.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes, as_factors
from unbraid.metrics.information import discretize, entropy, mutual_information


class MIG(NamedTuple):
    score: float  # mean over factors, in [0, 1]
    per_factor: Float[np.ndarray, " k"]
    information: Float[np.ndarray, "d k"]  # I(z_j; v_k) in nats
    rmig: float  # the mean gap in nats
    jemmig: float  # in [0, 1]; lower than MIG if the best dimension encodes more than its factor
    n: int
    bins: int
    binning: str

    higher_is_better = True
    bounds = (0.0, 1.0)


def mig(codes: np.ndarray, factors: np.ndarray, *, bins: int = 20, binning: str = "equal_width") -> MIG:
    r"""Gap in mutual information with each factor between the best and second-best dimension.

    .. math:: MIG = 1/K \sum_k (I(z_{j(k)}; v_k) - \max_{j \ne j(k)} I(z_j; v_k)) / H(v_k)

    .. math:: JEMMIG = 1/K \sum_k 1 - (H(z_{j(k)}, v_k) - gap_k) / (H(v_k) + \log bins)

    The protocol of disentanglement_lib is 20 bins of equal width and 10,000 samples. If a factor has more values than
    there are bins, even a perfect code scores below 1: at most log 20 / log 40 = 0.81 for 40 values in 20 bins.
    """
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    if codes.shape[1] < 2:
        raise ValueError(f"MIG compares two dimensions per factor; got codes of shape {codes.shape}.")
    binned = discretize(codes, bins, binning)
    information = mutual_information(binned, factors)
    factor_entropy = entropy(factors)
    second, first = np.sort(information, axis=0)[-2:]
    gap = first - second
    joint = entropy(binned)[information.argmax(axis=0)] + factor_entropy - first
    jemmig = 1 - (joint - gap) / (factor_entropy + np.log(bins))
    per_factor = gap / factor_entropy
    return MIG(
        score=float(per_factor.mean()),
        per_factor=per_factor,
        information=information,
        rmig=float(gap.mean()),
        jemmig=float(jemmig.mean()),
        n=len(codes),
        bins=bins,
        binning=binning,
    )
