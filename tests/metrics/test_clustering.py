"""Clustering accuracy, src/unbraid/metrics/clustering.py."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import silhouette_score
from torch.testing import assert_close

from unbraid.metrics import clustering
from unbraid.metrics.clustering import matched_accuracy


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_match_is_better(seed: int) -> None:
    clusters, labels = np.random.default_rng(seed).integers(0, 4, (2, 30))
    best = max(np.mean(np.array(order)[clusters] == labels) for order in permutations(range(4)))
    assert_close(matched_accuracy(clusters, labels), float(best))


@pytest.mark.parametrize(("n", "chance"), [(2_000, 0.130), (5_000, 0.119), (50_000, 0.106)])
def test_the_chance_level_of_ten_classes(n: int, chance: float) -> None:
    rng = np.random.default_rng(0)
    scores = [matched_accuracy(*rng.integers(0, 10, (2, n))) for _ in range(60)]
    assert_close(float(np.mean(scores)), chance, rtol=0, atol=0.0015)


def test_separate_classes_are_found() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([3, 7, 40], 60)
    codes = np.eye(3)[np.repeat([0, 1, 2], 60)] * 20 + rng.standard_normal((180, 3))
    result = clustering(codes, labels, rng=rng)
    assert_close(result.score, 1.0)
    assert type(result.score) is float
    assert (result.n, result.n_silhouette) == (180, 180)
    assert 1 / 3 < result.chance < 0.5
    assert result.silhouette_map_clusters > 0.6
    assert_close(result.silhouette_map_labels, result.silhouette_map_clusters)
    assert_close(result.silhouette_map_labels, float(silhouette_score(result.map, labels)))
    assert_close(result.silhouette_codes_clusters, float(silhouette_score(codes, labels)))


def test_a_code_without_structure() -> None:
    """k-means finds ten clusters in any map: 0.34 to 0.37 of silhouette, and accuracy at chance."""
    rng = np.random.default_rng(0)
    codes, labels = rng.standard_normal((1000, 8)), np.arange(1000) % 10
    result = clustering(codes, labels, rng=rng, silhouette_samples=900)
    assert 0.32 < result.silhouette_map_clusters < 0.39
    assert 0.0 < result.silhouette_codes_clusters < 0.19
    assert -0.1 < result.silhouette_map_labels < 0.0
    assert abs(result.score - result.chance) < 0.02
    assert result.n_silhouette == 900


def test_same_seed_same_clusters_and_one_code_is_enough() -> None:
    codes = np.arange(40.0)[:, None]
    labels = np.arange(40) // 20
    once, again = (clustering(codes, labels, rng=np.random.default_rng(2)) for _ in range(2))
    assert once.score == again.score
    assert (once.clusters == again.clusters).all()


def test_a_thing_that_is_drawn_again_and_again_counts_once() -> None:
    codes, labels = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    drawn = np.concatenate([np.arange(40), np.arange(40), [0, 0, 7]])
    copies = clustering(codes[drawn], labels[drawn], rng=np.random.default_rng(1), instances=drawn)
    alone = clustering(codes, labels, rng=np.random.default_rng(1))
    assert (copies.n, copies.score, copies.chance) == (40, alone.score, alone.chance)


@pytest.mark.parametrize(
    ("codes", "labels", "sentence"),
    [
        (np.zeros((9, 2)), np.arange(9) % 2, "all codes are constant"),
        (np.eye(9), np.zeros(9, int), "at least two classes"),
        (np.eye(4), np.arange(4), "more samples than classes"),
        (np.eye(9), np.arange(8), "8 rows for 9 samples"),
        (np.eye(9), np.arange(9.0), "labels must be integers"),
    ],
)
def test_bad_input_gets_one_sentence(codes: np.ndarray, labels: np.ndarray, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        clustering(codes, labels, rng=np.random.default_rng(0))
