"""Separated attribute predictability (SAP). Kumar et al., 2018, Variational Inference of Disentangled Latent
Concepts from Unlabeled Observations, arXiv:1711.00848, Sec. 3."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LinearRegression, LogisticRegression

from unbraid.metrics.arrays import as_codes, as_factors, standardize
from unbraid.metrics.information import relabel
from unbraid.metrics.one_code_svm import fit_one_code_svms, predict_one_code_svms
from unbraid.metrics.probe import as_columns

PROTOCOLS = ("disentanglement_lib", "infogan_cr")
KINDS = ("discrete", "continuous")
PENALTY = 0.01  # LinearSVC's C in disentanglement_lib
DEAD = 1e-12  # variance below which a code predicts nothing continuous, as in disentanglement_lib


class SAP(NamedTuple):
    score: float  # mean over factors of the best score less the second best
    per_factor: Float[np.ndarray, " k"]
    scores: Float[np.ndarray, "rows k"]  # of each code, or strand, and factor: accuracy or R²
    rows: tuple[str, ...]  # what the rows are: code 0, code 1, …, or the names of the strands
    kinds: tuple[str, ...]
    n: int
    n_test: int
    protocol: str


def sap(
    codes: np.ndarray,
    factors: np.ndarray,
    *,
    test_codes: np.ndarray | None = None,
    test_factors: np.ndarray | None = None,
    protocol: str = "disentanglement_lib",
    kinds: Sequence[str] | None = None,
    strands: Mapping[str, Sequence[int]] | None = None,
) -> SAP:
    r"""How much better one code alone predicts each factor than any other code alone.

    .. math:: SAP = 1/K \sum_k (S_{j(k) k} - \max_{j \ne j(k)} S_{jk})

    `kinds` says of each factor whether it is `discrete`, where S is the test accuracy of a linear
    classifier on the code, or `continuous`, where S is the squared correlation on the test sample.

    - `disentanglement_lib`: factors are discrete unless `kinds` says otherwise; the classifier is a linear
      SVM with squared hinge, C = 0.01 and balanced classes. 10,000 training and 5,000 test samples there.
    - `infogan_cr`: `kinds` must be given (dSprites: shape discrete, the rest continuous); the classifier is
      a logistic regression. 73,728 samples there and no test sample: leave it out to score on the
      training sample.

    `strands` maps names to columns and scores those groups instead of single codes: logistic regression and
    least squares on all codes of the strand. The papers do not say how; with one code a strand, the
    continuous scores are those of the codes.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}; got {protocol!r}.")
    codes = as_codes(codes)
    factors = as_factors(factors, samples=len(codes))
    tested = _as_test_sample(codes, factors, test_codes, test_factors, protocol)
    kinds = _as_kinds(kinds, factors.shape[1], protocol)
    groups = {f"code {j}": np.array([j]) for j in range(codes.shape[1])}
    if strands is not None:
        groups = {name: as_columns(columns, codes.shape[1], name) for name, columns in strands.items()}
    if len(groups) < 2:
        what = "strands" if strands is not None else "codes"
        raise ValueError(
            f"SAP compares the two best {what} of a factor; got {len(groups)}; pass two or more."
        )
    by_margin = protocol == "disentanglement_lib" and strands is None
    discrete = [k for k, kind in enumerate(kinds) if kind == "discrete"]
    scores = np.zeros((len(groups), len(kinds)))
    for row, columns in enumerate(groups.values()):
        train, test = standardize(codes[:, columns], tested[0][:, columns])
        for k in range(len(kinds)):
            if kinds[k] == "continuous":
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
    return SAP(float(gap.mean()), gap, scores, tuple(groups), kinds, len(codes), n_test, protocol)


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
            f"SAP by protocol {protocol!r} needs a test sample; pass both test_codes and test_factors."
        )
    test_codes = as_codes(test_codes, name="test_codes", columns=codes.shape[1])
    test_factors = as_factors(
        test_factors, name="test_factors", samples=len(test_codes), columns=factors.shape[1], varying=False
    )
    return test_codes, test_factors


def _as_kinds(kinds: Sequence[str] | None, factors: int, protocol: str) -> tuple[str, ...]:
    if kinds is None:
        if protocol == "infogan_cr":
            raise ValueError(
                "SAP by protocol 'infogan_cr' needs the kind of each factor; "
                "pass kinds=('discrete', 'continuous', …), one a factor."
            )
        return ("discrete",) * factors
    kinds = tuple(kinds)
    if len(kinds) != factors or not set(kinds) <= set(KINDS):
        raise ValueError(f"kinds must name {' or '.join(KINDS)} for each of {factors} factors; got {kinds}.")
    return kinds


def _margin_accuracies(
    code: Float[np.ndarray, " n"],
    factors: Int[np.ndarray, "n k"],
    test_code: Float[np.ndarray, " m"],
    test_factors: Int[np.ndarray, "m k"],
) -> list[float]:
    """Test accuracy of a linear SVM on one code, for each factor."""
    targets = [relabel(labels) for labels in factors.T]
    if not targets:
        return []
    fitted = fit_one_code_svms(code, targets, penalty=PENALTY)
    accuracies = []
    for labels, test_labels, svms in zip(factors.T, test_factors.T, fitted, strict=True):
        predicted = np.unique(labels)[predict_one_code_svms(test_code, svms)]
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
    """Squared correlation of the factor with its least-squares prediction; of one code, with the code."""
    predicted = LinearRegression().fit(train, values).predict(test)
    if predicted.var() <= DEAD * max(1.0, float(test_values.var())) or test_values.var() == 0:
        return 0.0
    return float(np.corrcoef(predicted, test_values)[0, 1] ** 2)
