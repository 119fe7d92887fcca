"""Separated attribute predictability (SAP). Kumar et al., 2018, Variational Inference of Disentangled Latent
Concepts from Unlabeled Observations, arXiv:1711.00848, Sec. 3."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LinearRegression, LogisticRegression

from unbraid.metrics.arrays import as_codes, as_factors, require_protocol, standardize
from unbraid.metrics.information import relabel
from unbraid.metrics.one_dim_svm import fit_one_dim_svms, predict_one_dim_svms
from unbraid.metrics.probe import as_columns

PROTOCOLS = ("disentanglement_lib", "infogan_cr")
FACTOR_TYPES = ("discrete", "continuous")
PENALTY = 0.01  # LinearSVC's C in disentanglement_lib
CONSTANT = 1e-12  # variance below which a dimension predicts no continuous factor, as in disentanglement_lib


class SAP(NamedTuple):
    score: float  # mean over factors of the best score minus the second best
    per_factor: Float[np.ndarray, " k"]
    scores: Float[np.ndarray, "rows k"]  # of each dimension, or strand, and factor: accuracy or R²
    rows: tuple[str, ...]  # names of the rows: dimension 0, dimension 1, …, or the strands
    factor_types: tuple[str, ...]
    n: int
    n_test: int
    protocol: str

    higher_is_better = True
    bounds = (0.0, 1.0)


def sap(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    test_codes: np.ndarray | None = None,
    test_factors: np.ndarray | None = None,
    protocol: str = "disentanglement_lib",
    factor_types: Sequence[str] | None = None,
    strands: Mapping[str, Sequence[int]] | None = None,
) -> SAP:
    r"""Gap between the two dimensions that best predict each factor on their own.

    .. math:: SAP = 1/K \sum_k (S_{j(k) k} - \max_{j \ne j(k)} S_{jk})

    `factor_types` has `discrete` or `continuous` per factor. S is the test accuracy of a linear classifier on the
    dimension for a discrete factor, and the squared correlation on the test sample for a continuous factor.

    - `disentanglement_lib`: factors are discrete unless `factor_types` differs; the classifier is a linear
      SVM with squared hinge, C = 0.01 and balanced classes. 10,000 training and 5,000 test samples there.
    - `infogan_cr`: `factor_types` is required (dSprites: shape discrete, the others continuous); the classifier is
      a logistic regression. 73,728 samples there and no test sample: omit the test sample to score on the
      training sample.

    A factor without order is discrete, also one that runs in a circle: a dimension that encodes a hue perfectly, but
    starts elsewhere in the circle, has a squared correlation of 0 to 0.26 with the index of the hue. The result's
    `protocol` names how many factors are discrete, unless all are in `disentanglement_lib`.

    `strands` maps names to columns and scores strands instead of dimensions: logistic regression and least squares on
    all dimensions of the strand. The papers do not define this; with one dimension per strand, the continuous scores
    equal those of the dimensions.
    """
    require_protocol(protocol, PROTOCOLS)
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    tested = _as_test_sample(codes, factors, test_codes, test_factors, protocol)
    factor_types = _as_factor_types(factor_types, factors.shape[1], protocol)
    groups = {f"dimension {j}": np.array([j]) for j in range(codes.shape[1])}
    if strands is not None:
        groups = {name: as_columns(columns, codes.shape[1], name) for name, columns in strands.items()}
    if len(groups) < 2:
        unit = "strands" if strands is not None else "dimensions"
        raise ValueError(f"SAP needs at least two {unit} to compare; got {len(groups)}.")
    by_margin = protocol == "disentanglement_lib" and strands is None
    discrete = [k for k, factor_type in enumerate(factor_types) if factor_type == "discrete"]
    scores = np.zeros((len(groups), len(factor_types)))
    for row, columns in enumerate(groups.values()):
        train, test = standardize(codes[:, columns], tested[0][:, columns])
        for k in range(len(factor_types)):
            if factor_types[k] == "continuous":
                scores[row, k] = _explained(train, factors[:, k], test, tested[1][:, k])
            elif not by_margin:
                scores[row, k] = _logistic_accuracy(train, factors[:, k], test, tested[1][:, k])
        if by_margin:
            scores[row, discrete] = _margin_accuracies(
                codes[:, row], factors[:, discrete], tested[0][:, row], tested[1][:, discrete]
            )
    second, first = np.sort(scores, axis=0)[-2:]
    gap = first - second
    n_test = len(tested[0])
    name = _protocol_name(protocol, len(discrete), len(factor_types))
    return SAP(float(gap.mean()), gap, scores, tuple(groups), factor_types, len(codes), n_test, name)


def _protocol_name(protocol: str, discrete: int, factors: int) -> str:
    """The protocol with the number of discrete factors, on which the score depends."""
    is_standard = protocol == "disentanglement_lib" and discrete == factors
    return protocol if is_standard else f"{protocol}, {discrete} of {factors} factors discrete"


def _as_test_sample(
    codes: Float[np.ndarray, "n d"],
    factors: Int[np.ndarray, "n k"],
    test_codes: np.ndarray | None,
    test_factors: np.ndarray | None,
    protocol: str,
) -> tuple[np.ndarray, np.ndarray]:
    if test_codes is None and test_factors is None and protocol == "infogan_cr":
        return codes, factors
    if test_codes is None or test_factors is None:
        raise ValueError(
            f"SAP with protocol {protocol!r} needs a test sample. Pass both test_codes and test_factors."
        )
    test_codes = as_codes(test_codes, name="test_codes", columns=codes.shape[1])
    test_factors = as_factors(
        test_factors, name="test_factors", samples=len(test_codes), columns=factors.shape[1], varying=False
    )
    return test_codes, test_factors


def _as_factor_types(factor_types: Sequence[str] | None, factors: int, protocol: str) -> tuple[str, ...]:
    if factor_types is None:
        if protocol == "infogan_cr":
            raise ValueError(
                "SAP with protocol 'infogan_cr' needs the type of each factor. "
                "Pass factor_types=('discrete', 'continuous', …), one per factor."
            )
        return ("discrete",) * factors
    factor_types = tuple(factor_types)
    if len(factor_types) != factors or not set(factor_types) <= set(FACTOR_TYPES):
        raise ValueError(
            f"factor_types must be {' or '.join(FACTOR_TYPES)} for each of {factors} factors; got {factor_types}."
        )
    return factor_types


def _margin_accuracies(
    code: Float[np.ndarray, " n"],
    factors: Int[np.ndarray, "n k"],
    test_code: Float[np.ndarray, " m"],
    test_factors: Int[np.ndarray, "m k"],
) -> list[float]:
    """Test accuracy of a linear SVM on one dimension, per factor."""
    targets = [relabel(labels) for labels in factors.T]
    if not targets:
        return []
    fitted = fit_one_dim_svms(code, targets, penalty=PENALTY)
    accuracies = []
    for labels, test_labels, svms in zip(factors.T, test_factors.T, fitted, strict=True):
        predicted = np.unique(labels)[predict_one_dim_svms(test_code, svms)]
        accuracies.append(float(np.mean(predicted == test_labels)))
    return accuracies


def _logistic_accuracy(
    train: Float[np.ndarray, "n d"],
    labels: Int[np.ndarray, " n"],
    test: Float[np.ndarray, "m d"],
    test_labels: Int[np.ndarray, " m"],
) -> float:
    return float(LogisticRegression(max_iter=1000).fit(train, labels).score(test, test_labels))


def _explained(
    train: Float[np.ndarray, "n d"],
    values: Int[np.ndarray, " n"],
    test: Float[np.ndarray, "m d"],
    test_values: Int[np.ndarray, " m"],
) -> float:
    """Squared correlation of the factor with its least-squares prediction."""
    predicted = LinearRegression().fit(train, values).predict(test)
    if predicted.var() <= CONSTANT * max(1.0, float(test_values.var())) or test_values.var() == 0:
        return 0.0
    return float(np.corrcoef(predicted, test_values)[0, 1] ** 2)
