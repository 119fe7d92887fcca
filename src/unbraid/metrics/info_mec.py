"""InfoMEC: modularity, explicitness and compactness in the language of information. Hsu et al., 2023,
Disentanglement via Latent Quantization, arXiv:2305.18378."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from unbraid.metrics.arrays import as_codes, as_factors, standardize
from unbraid.metrics.information import entropy, mutual_information, neighbour_information, relabel

PROTOCOLS = ("continuous", "discrete")


class InfoMEC(NamedTuple):
    score: float  # mean of the three below; the paper reports them side by side
    modularity: float  # InfoM: each active code knows of one factor
    explicitness: float  # InfoE: a linear classifier reads the factors
    compactness: float  # InfoC: each factor is in one code
    information: Float[np.ndarray, "d k"]  # I(z_j; v_k) / H(v_k)
    active: Bool[np.ndarray, " d"]
    n: int
    protocol: str


def info_mec(
    codes: np.ndarray, factors: np.ndarray, *, protocol: str = "continuous", neighbours: int = 10
) -> InfoMEC:
    r"""InfoM, InfoE and InfoC from the normalised information N_jk = I(z_j; v_k) / H(v_k).

    .. math::
        InfoM = (1/|A| \sum_{j ∈ A} \max_k N_{jk} / \sum_k N_{jk} - 1/K) / (1 - 1/K)

        InfoC = (1/K \sum_k \max_{j ∈ A} N_{jk} / \sum_{j ∈ A} N_{jk} - 1/|A|) / (1 - 1/|A|)

        InfoE = 1/K \sum_k 1 - CE_k(z) / CE_k(null)

    A holds the active codes. `continuous` codes are active if their range exceeds a twentieth of the
    widest, their information is the nearest-neighbour estimate, and the classifier sees them
    standardised; `discrete` codes are active if they vary, are counted, and enter one-hot. The
    cross-entropies are those of the sample itself, of an unpenalised logistic regression with balanced
    classes; for the null model that is the log of the number of values.

    Where the formulas divide 0 by 0, a code or factor without information counts 0, and so does
    compactness with a single active code.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {protocol!r}.")
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    if factors.shape[1] < 2:
        raise ValueError(f"InfoMEC compares two factors per code; got factors of shape {factors.shape}.")
    spread = np.ptp(codes, axis=0)
    if protocol == "discrete":
        active = spread > 0
        information = mutual_information(_levels(codes), factors)
        features = OneHotEncoder().fit_transform(codes)
    else:
        active = spread > spread.max() / 20
        information = neighbour_information(codes, factors, neighbours=neighbours)
        (features,) = standardize(codes)
    # The neighbour estimate may overshoot H(v_k) by O(1/n); no code knows more than all of a factor.
    information = np.minimum(information / entropy(factors), 1.0)
    modularity = _concentration(information[active])
    compactness = _concentration(information[active].T)
    explicitness = float(np.mean([_predictive_share(features, labels) for labels in factors.T]))
    score = (modularity + explicitness + compactness) / 3
    return InfoMEC(score, modularity, explicitness, compactness, information, active, len(codes), protocol)


def _levels(codes: Float[np.ndarray, "n d"]) -> Int[np.ndarray, "n d"]:
    return np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes.T], axis=1)


def _concentration(information: Float[np.ndarray, "rows columns"]) -> float:
    """How far each row lies in one column: 0 when spread evenly, 1 when in one."""
    rows, columns = information.shape
    if rows == 0 or columns < 2:
        return 0.0
    total = information.sum(axis=1)
    even = np.full(rows, 1 / columns)
    share = np.divide(information.max(axis=1), total, out=even, where=total > 0)
    return float((share.mean() - 1 / columns) / (1 - 1 / columns))


def _predictive_share(features: Any, labels: Int[np.ndarray, " n"]) -> float:  # a table, dense or sparse
    labels = relabel(labels)
    fit = LogisticRegression(C=np.inf, class_weight="balanced")
    with warnings.catch_warnings():
        # Separable codes push the weights to infinity; the published protocol stops at 100 steps.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit.fit(features, labels)
    probability = fit.predict_proba(features)[np.arange(len(labels)), labels]
    floor = np.finfo(float).eps  # a certain mistake must not cost infinity
    return float(1 + np.log(np.maximum(probability, floor)).mean() / np.log(labels.max() + 1))
