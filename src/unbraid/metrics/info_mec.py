"""InfoMEC: modularity, explicitness and compactness from mutual information. Hsu et al., 2023,
Disentanglement via Latent Quantization, arXiv:2305.18378."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from unbraid.metrics.arrays import as_codes, as_factors, require_protocol, standardize
from unbraid.metrics.information import entropy, mutual_information, neighbor_information, relabel

PROTOCOLS = ("continuous", "discrete")


class InfoMEC(NamedTuple):
    score: float  # mean of the three below, which the paper reports separately
    modularity: float  # InfoM: high if each active dimension contains information about one factor only
    explicitness: float  # InfoE: high if a linear classifier predicts the factors
    compactness: float  # InfoC: high if each factor is encoded by one dimension
    information: Float[np.ndarray, "d k"]  # I(z_j; v_k) / H(v_k)
    active: Bool[np.ndarray, " d"]
    n: int
    protocol: str

    higher_is_better = True
    bounds = (None, 1.0)


def info_mec(
    codes: np.ndarray, factors: np.ndarray, *, protocol: str = "continuous", neighbors: int = 10
) -> InfoMEC:
    r"""Mean of modularity (InfoM), explicitness (InfoE) and compactness (InfoC).

    All three use the normalized information N_jk = I(z_j; v_k) / H(v_k).

    .. math::
        InfoM = (1/|A| \sum_{j ∈ A} \max_k N_{jk} / \sum_k N_{jk} - 1/K) / (1 - 1/K)

        InfoC = (1/K \sum_k \max_{j ∈ A} N_{jk} / \sum_{j ∈ A} N_{jk} - 1/|A|) / (1 - 1/|A|)

        InfoE = 1/K \sum_k 1 - CE_k(z) / CE_k(null)

    A is the set of active dimensions. With `continuous`, a dimension is active if its range exceeds a twentieth of the
    largest range, the information is the nearest-neighbor estimate, and the classifier gets standardized codes. With
    `discrete`, a dimension is active if it varies, the information is computed from counts, and the classifier gets
    one-hot codes. The classifier is an unpenalized logistic regression with balanced classes. Its cross-entropy is
    computed on the training sample; that of the null model is the log of the number of values.

    Where the formulas divide 0 by 0, a dimension or factor without information counts 0. Compactness is 0 with a
    single active dimension.
    """
    require_protocol(protocol, PROTOCOLS)
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    if factors.shape[1] < 2:
        raise ValueError(f"InfoMEC needs at least two factors; got factors of shape {factors.shape}.")
    value_range = np.ptp(codes, axis=0)
    if protocol == "discrete":
        active = value_range > 0
        information = mutual_information(_levels(codes), factors)
        features = OneHotEncoder().fit_transform(codes)
    else:
        active = value_range > value_range.max() / 20
        information = neighbor_information(codes, factors, neighbors=neighbors)
        (features,) = standardize(codes)
    # The neighbor estimate may exceed H(v_k) by O(1/n); the true information cannot.
    information = np.minimum(information / entropy(factors), 1.0)
    modularity = _concentration(information[active])
    compactness = _concentration(information[active].T)
    explicitness = float(np.mean([_predictive_share(features, labels) for labels in factors.T]))
    score = (modularity + explicitness + compactness) / 3
    return InfoMEC(score, modularity, explicitness, compactness, information, active, len(codes), protocol)


def _levels(codes: Float[np.ndarray, "n d"]) -> Int[np.ndarray, "n d"]:
    return np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes.T], axis=1)


def _concentration(information: Float[np.ndarray, "rows columns"]) -> float:
    """Mean concentration of the rows: 0 if a row is uniform over the columns, 1 if it has one nonzero column."""
    rows, columns = information.shape
    if rows == 0 or columns < 2:
        return 0.0
    total = information.sum(axis=1)
    even = np.full(rows, 1 / columns)
    share = np.divide(information.max(axis=1), total, out=even, where=total > 0)
    return float((share.mean() - 1 / columns) / (1 - 1 / columns))


def _predictive_share(features: Any, labels: Int[np.ndarray, " n"]) -> float:  # dense or sparse
    labels = relabel(labels)
    fit = LogisticRegression(C=np.inf, class_weight="balanced")
    with warnings.catch_warnings():
        # Separable codes push the weights to infinity; the published protocol stops at 100 steps.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit.fit(features, labels)
    probability = fit.predict_proba(features)[np.arange(len(labels)), labels]
    floor = np.finfo(float).eps  # keeps the logarithm of a probability of 0 finite
    return float(1 + np.log(np.maximum(probability, floor)).mean() / np.log(labels.max() + 1))
