"""Correlations of two tables, src/unbraid/metrics/correlation.py."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from torch.testing import assert_close

from unbraid.metrics.correlation import correlation


@pytest.mark.parametrize(("kind", "peer"), [("pearson", pearsonr), ("spearman", spearmanr)])
def test_pair_by_pair(kind: str, peer: object) -> None:
    rng = np.random.default_rng(0)
    first = rng.standard_normal((50, 3))
    second = np.round(first[:, :2] + rng.standard_normal((50, 2)))  # with ties
    slow = [[float(peer(a, b).statistic) for b in second.T] for a in first.T]  # type: ignore[operator]
    assert_close(correlation(first, second, kind), np.array(slow))


def test_a_constant_column_correlates_with_nothing() -> None:
    first = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    assert_close(correlation(first, first), np.array([[0.0, 0.0], [0.0, 1.0]]))
