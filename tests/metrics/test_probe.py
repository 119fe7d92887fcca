"""Linear probes, src/unbraid/metrics/probe.py."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from torch.testing import assert_close

from unbraid.metrics import probe


def sample(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes 0, 1 carry the label, codes 2, 3 are noise, code 4 is constant."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    signal = np.stack([labels // 2, labels % 2], axis=1) * 4 + rng.standard_normal((n, 2))
    return np.column_stack([signal, rng.standard_normal((n, 2)), np.full(n, 0.1)]), labels


def test_strands_tell_where_the_label_is() -> None:
    (codes, labels), (test_codes, test_labels) = sample(0, 2000), sample(1, 1000)
    strands = {"signal": [0, 1], "half": [0], "noise": [2, 3], "dead": [4]}
    result = probe(codes, labels, test_codes=test_codes, test_labels=test_labels, strands=strands)
    # Two bits, each 4 deviations apart: Φ(2)² = 0.955; one bit alone leaves a coin toss: 0.489.
    assert_close(result.score, 0.955, rtol=0, atol=0.02)
    assert_close(result.per_strand["signal"], 0.955, rtol=0, atol=0.02)
    assert_close(result.per_strand["half"], 0.489, rtol=0, atol=0.04)
    assert_close(result.per_strand["noise"], 0.25, rtol=0, atol=0.04)
    assert_close(result.per_strand["dead"], result.chance)
    assert (result.n, result.n_test, result.inverse_penalty) == (2000, 1000, 1.0)


def test_agreement_with_scikit_learn() -> None:
    (codes, labels), (test_codes, test_labels) = sample(0, 200), sample(1, 100)
    live, test_live = codes[:, :4], test_codes[:, :4]
    mean, deviation = live.mean(axis=0), live.std(axis=0)
    fit = LogisticRegression(C=0.1, max_iter=1000).fit((live - mean) / deviation, labels)
    peer = fit.score((test_live - mean) / deviation, test_labels)
    found = probe(codes, labels, test_codes=test_codes, test_labels=test_labels, inverse_penalty=0.1)
    assert_close(found.score, float(peer))
    assert type(found.score) is float


def test_bad_input_gets_one_sentence() -> None:
    codes, labels = sample(0, 20)
    tested = {"test_codes": codes, "test_labels": labels}
    with pytest.raises(ValueError, match="strand 'a' must be within the 5 dimensions"):
        probe(codes, labels, **tested, strands={"a": [0, 5]})
    with pytest.raises(ValueError, match="strand 'a' must list column indices"):
        probe(codes, labels, **tested, strands={"a": []})
    with pytest.raises(ValueError, match="at least two classes"):
        probe(codes, np.zeros(20, int), **tested)
    with pytest.raises(ValueError, match="test_labels must have one row per sample"):
        probe(codes, labels, test_codes=codes, test_labels=labels[:-1])
