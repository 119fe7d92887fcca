"""Linear probes by strand: the classifier C of Burns et al., 2021, Unsupervised Disentanglement without
Autoencoding, ICML workshop, Sec. 3.3."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from sklearn.linear_model import LogisticRegression

from unbraid.metrics.arrays import as_codes, as_labels, standardize


class Probe(NamedTuple):
    score: float  # test accuracy on the whole code
    per_strand: dict[str, float]
    train_score: float
    chance: float  # test accuracy of always predicting the most frequent training class
    n: int
    n_test: int
    inverse_penalty: float

    higher_is_better = True
    bounds = (0.0, 1.0)
    undirected = ("chance", "per_strand")
    lower_is_better_in = ("common",)


def probe(
    codes: np.ndarray,
    labels: np.ndarray,
    *,
    test_codes: np.ndarray,
    test_labels: np.ndarray,
    strands: Mapping[str, Sequence[int]] | None = None,
    inverse_penalty: float = 1.0,
) -> Probe:
    """Test accuracy of a linear probe on the code and on each strand.

    Multinomial logistic regression with scikit-learn's L2 penalty (`inverse_penalty` is its C) on codes
    standardized by the training sample; the paper specifies neither penalty nor optimizer. `strands` maps
    names to columns of the code.
    """
    codes = as_codes(codes)
    labels = as_labels(labels, samples=len(codes))
    test_codes = as_codes(test_codes, name="test_codes", columns=codes.shape[1])
    test_labels = as_labels(test_labels, samples=len(test_codes), name="test_labels")
    values, counts = np.unique(labels, return_counts=True)
    if len(values) < 2:
        raise ValueError("a probe needs labels of at least two classes; got one.")
    train, test = standardize(codes, test_codes)
    whole = _fit(train, labels, inverse_penalty)
    per_strand = {}
    for name, columns in (strands or {}).items():
        columns = as_columns(columns, codes.shape[1], name)
        fit = _fit(train[:, columns], labels, inverse_penalty)
        per_strand[name] = float(fit.score(test[:, columns], test_labels))
    return Probe(
        score=float(whole.score(test, test_labels)),
        per_strand=per_strand,
        train_score=float(whole.score(train, labels)),
        chance=float((test_labels == values[counts.argmax()]).mean()),
        n=len(codes),
        n_test=len(test_codes),
        inverse_penalty=inverse_penalty,
    )


def as_columns(columns: Sequence[int], width: int, name: str) -> Int[np.ndarray, " columns"]:
    """The columns of a strand as int64; raises unless they are valid column indices."""
    chosen = np.asarray(columns)
    if chosen.ndim != 1 or not chosen.size or chosen.dtype.kind not in "iu":
        raise ValueError(f"strand {name!r} must list column indices; got {columns!r}.")
    if chosen.min() < 0 or chosen.max() >= width:
        raise ValueError(f"strand {name!r} must be within the {width} dimensions; got {columns!r}.")
    return chosen.astype(np.int64)


def _fit(
    codes: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], inverse_penalty: float
) -> LogisticRegression:
    return LogisticRegression(C=inverse_penalty, max_iter=1000).fit(codes, labels)
