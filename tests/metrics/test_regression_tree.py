"""Trees equal to scikit-learn's, src/unbraid/metrics/regression_tree.py."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from torch.testing import assert_close

from unbraid.metrics.regression_tree import Scratch, grow_tree, presort, route


def pair(codes: np.ndarray, target: np.ndarray, seed: int) -> tuple:
    state = int(np.random.RandomState(seed).randint(0, 2**31 - 1))
    ours = grow_tree(presort(codes), target, state, Scratch(*codes.T.shape))
    theirs = DecisionTreeRegressor(max_depth=3, random_state=np.random.RandomState(seed))
    return ours, theirs.fit(codes.astype(np.float32), target)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["real", "two values", "few codes", "repeated codes", "dead code"])
def test_same_splits_same_gains(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.standard_normal((120, 5))
    target = codes[:, 0] * codes[:, 1] + 0.3 * rng.standard_normal(120)
    if kind == "two values":  # ties between cuts that part the node differently
        target = (target > 0) - 0.5
    if kind == "few codes":
        codes = rng.integers(0, 4, (120, 5)).astype(float)
    if kind == "repeated codes":
        codes = codes[:, [0, 1, 0, 1, 2]]
    if kind == "dead code":
        codes[:, 3] = 1.0
    target = target / np.abs(target).max()
    ours, model = pair(codes, target, seed)
    tree = model.tree_
    gains = np.zeros(5)
    np.add.at(gains, ours.features, ours.gains)
    assert_close(gains / 120, tree.compute_feature_importances(normalize=False), rtol=1e-9, atol=1e-12)
    means = [target[ours.leaf == leaf].mean() if (ours.leaf == leaf).any() else 0.0 for leaf in range(8)]
    assert_close(np.array(means)[ours.leaf], model.predict(codes), rtol=1e-9, atol=1e-12)
    assert_close(route(ours, np.ascontiguousarray(codes.T, dtype=np.float32)), ours.leaf)


def test_by_hand() -> None:
    """Targets -1 -1 1 1 along one code: one cut in the middle takes the whole squared error, 4."""
    ours, _ = pair(np.arange(4.0)[:, None], np.array([-1.0, -1.0, 1.0, 1.0]), 0)
    assert (ours.features[0], ours.thresholds[0], ours.gains[0]) == (0, 1.5, 4.0)
    assert_close(ours.leaf, np.array([0, 0, 4, 4]))


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_samples(n: int) -> None:
    rng = np.random.default_rng(n)
    ours, model = pair(rng.standard_normal((n, 2)), rng.uniform(-1, 1, n), n)
    assert len(np.unique(ours.leaf)) == model.get_n_leaves()


def test_nothing_to_cut() -> None:
    for codes, target in ((np.ones((6, 2)), np.arange(6.0) / 6), (np.eye(6), np.zeros(6))):
        ours, model = pair(codes, target, 0)
        assert model.get_n_leaves() == 1
        assert_close(ours.leaf, np.zeros(6, dtype=np.int64))
        assert ours.gains == [0.0] * 7
