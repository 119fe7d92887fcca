"""Estimates of information, src/unbraid/metrics/information.py."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif
from torch.testing import assert_close

from unbraid.metrics.information import (
    discretize,
    entropy,
    mutual_information,
    neighbor_information,
    relabel,
)


def slow_information(a: np.ndarray, b: np.ndarray) -> float:
    """The sum over pairs of values, as it is written."""
    n = len(a)
    pairs, first, second = Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    return sum(c / n * math.log(c * n / (first[x] * second[y])) for (x, y), c in pairs.items())


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), values=st.sampled_from([2, 7, 10**6]))
def test_information_is_the_sum_over_pairs(seed: int, values: int) -> None:
    """A range of a million values takes the path that sorts."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-values, values, (30, 2)), rng.integers(0, values, (30, 3))
    slow = np.array([[slow_information(x, y) for y in b.T] for x in a.T])
    assert_close(mutual_information(a, b), slow)
    assert_close(mutual_information(b, a), slow.T)


def test_information_by_hand() -> None:
    """Two fair bits: with itself log 2, with the other 0, with their sum ½ log 2 (H(sum) = 1.5 log 2)."""
    bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    total = bits.sum(axis=1, keepdims=True)
    table = mutual_information(bits, np.hstack([bits, total]))
    log2 = math.log(2)
    assert_close(table, np.array([[log2, 0.0, log2 / 2], [0.0, log2, log2 / 2]]))
    assert_close(entropy(np.hstack([bits, total])), np.array([log2, log2, 1.5 * log2]))
    assert table[0, 1] == 0.0


def test_a_constant_column_knows_exactly_nothing() -> None:
    factors = np.random.default_rng(0).integers(0, 7, (1001, 3))
    assert (mutual_information(np.full((1001, 2), 3), factors) == 0).all()
    assert (neighbor_information(np.full((1001, 2), 0.3), factors) == 0).all()


def test_equal_width_bins_are_those_of_the_histogram() -> None:
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.standard_normal(5000), rng.integers(0, 41, 5000) / 10, np.ones(5000)])
    for bins in (1, 2, 20, 40):
        for column, found in zip(codes.T, discretize(codes, bins).T, strict=True):
            if column[0] == column[-1]:
                assert not found.any()
            else:
                edges = np.histogram(column, bins)[1]
                assert_close(found, np.digitize(column, edges[:-1]) - 1)


def test_bins_by_hand() -> None:
    codes = np.array([[0.0], [1.0], [2.0], [3.0], [100.0]])
    assert discretize(codes, 2).ravel().tolist() == [0, 0, 0, 0, 1]
    assert discretize(codes, 5, "equal_frequency").ravel().tolist() == [0, 1, 2, 3, 4]
    ties = np.array([[1.0], [1.0], [1.0], [5.0]])
    assert discretize(ties, 4, "equal_frequency").ravel().tolist() == [0, 0, 0, 3]


def test_equal_frequency_survives_a_monotone_map() -> None:
    codes = np.random.default_rng(0).standard_normal((500, 2))
    assert_close(
        discretize(codes, 20, "equal_frequency"), discretize(np.exp(3 * codes), 20, "equal_frequency")
    )


def test_bad_bins_get_one_sentence() -> None:
    with pytest.raises(ValueError, match="bins must be at least 1; got 0"):
        discretize(np.zeros((3, 1)), 0)
    with pytest.raises(ValueError, match="binning must be one of equal_width, equal_frequency; got 'log'"):
        discretize(np.zeros((3, 1)), 20, "log")
    with pytest.raises(ValueError, match="neighbors must be at least 1"):
        neighbor_information(np.zeros((3, 1)), np.zeros((3, 1), int), neighbors=0)


def test_relabel_keeps_the_order() -> None:
    assert relabel(np.array([-5, 9, 9, 2])).tolist() == [0, 2, 2, 1]
    assert relabel(np.array([10**12, -(10**12), 7])).tolist() == [2, 0, 1]


def slow_neighbor_information(code: np.ndarray, label: np.ndarray, neighbors: int) -> float:
    """Ross's estimator sample by sample, in closed balls."""
    keep = [i for i in range(len(code)) if (label == label[i]).sum() > 1]
    code, label = code[keep], label[keep]
    terms = []
    for i in range(len(code)):
        distance = np.abs(code - code[i])
        same = label == label[i]
        k = min(neighbors, same.sum() - 1)
        radius = np.sort(distance[same])[k] + 1e-12
        inside = distance <= radius
        terms.append(digamma((inside & same).sum() - 1) - digamma(same.sum()) - digamma(inside.sum() - 1))
    return max(0.0, float(digamma(len(code)) + np.mean(terms)))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rounded=st.booleans(), neighbors=st.integers(1, 12))
def test_neighbors_sample_by_sample(seed: int, rounded: bool, neighbors: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 6, (50, 2))
    codes = labels[:, :1] + rng.standard_normal((50, 2))
    codes = np.round(codes, 1) if rounded else codes
    slow = [[slow_neighbor_information(z, v, neighbors) for v in labels.T] for z in codes.T]
    assert_close(neighbor_information(codes, labels, neighbors=neighbors), np.array(slow), rtol=0, atol=1e-9)


def test_neighbors_agree_with_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, [3, 20], (2000, 2))
    codes = factors @ rng.standard_normal((2, 3)) + rng.standard_normal((2000, 3))
    peer = [mutual_info_classif(codes, v, n_neighbors=10, random_state=0) for v in factors.T]
    assert_close(neighbor_information(codes, factors), np.array(peer).T, rtol=0, atol=1e-6)


def test_neighbors_survive_a_large_offset() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, (500, 1))
    codes = np.round(factors + rng.standard_normal((500, 1)), 3)
    near, far = (neighbor_information(codes + shift, factors, neighbors=1) for shift in (0.0, 1e6))
    assert_close(far, near, rtol=0, atol=1e-9)


def test_neighbors_need_no_noise_on_a_grid() -> None:
    """Codes equal to the factor know all of it: ψ(n) - ψ(n/4) = log 4 + O(1/n)."""
    factors = np.arange(4000)[:, None] % 4
    found = neighbor_information(factors.astype(float), factors)
    assert_close(found, np.array([[math.log(4)]]), rtol=0, atol=1e-3)


def test_a_hundred_thousand_samples_of_distinct_values_stay_small() -> None:
    """A table of 100,000 x 100,000 counts would take 80 GB; sorted pairs take a few MB."""
    values = np.random.default_rng(0).permutation(100_000)[:, None]
    assert_close(mutual_information(values, values), np.array([[math.log(100_000)]]))
