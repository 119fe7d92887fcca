"""Gradient-boosted trees on binned codes: the classifier of the fast DCI.

The model is that of `boosting`, one tree of depth 3 per class and stage. Two changes make it faster: bins (Ke et al.,
2017, LightGBM), and growing the trees of all classes at once. The sums of the residuals in all bins, for all dimensions
and classes, are one product of a sparse table with the residuals.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_matrix
from scipy.special import softmax

from unbraid.metrics.boosting import Boosted

BINS = 64
DEPTH = 3
STAGES = 16  # fewer and larger steps than the usual 100 of 0.1
RATE = 0.3
TIE = 1e-4  # relative difference of tied gains; exceeds the error of sums in single precision
BLOCK = 1 << 22  # samples times classes processed at once, which limits the memory


class _Node(NamedTuple):
    sums: np.ndarray  # sums of residuals, (dimensions, bins, classes)
    counts: np.ndarray  # same shape, or with one class if all have equal counts
    inside: np.ndarray  # mask of the samples in the node, (classes, samples)


class _Binned(NamedTuple):
    train: np.ndarray  # (dimensions, samples), uint8
    test: np.ndarray
    table: csr_matrix  # (dimensions * bins, samples): 1 if the sample is in the bin


def boost_histograms(
    codes: Float[np.ndarray, "n d"],
    labels: Int[np.ndarray, " n"],
    test_codes: Float[np.ndarray, "m d"],
    test_labels: Int[np.ndarray, " m"],
    *,
    bins: int = BINS,
    stages: int = STAGES,
    rate: float = RATE,
) -> Boosted:
    """Fits the trees and scores them on the training and the test sample; deterministic."""
    if not 2 <= bins <= 256:
        raise ValueError(f"bins must be between 2 and 256; got {bins}.")
    classes, target = np.unique(labels, return_inverse=True)
    n, k = len(target), len(classes)
    # The first of equally good splits is taken. Sorting the dimensions by their values makes this choice independent of
    # the order of dimensions and samples.
    order = sorted(range(codes.shape[1]), key=lambda j: np.sort(codes[:, j]).tobytes())
    binned = _bin(codes[:, order], test_codes[:, order], bins)
    hit = (target[:, None] == np.arange(k)).astype(np.float32)
    raw = np.tile(np.log(np.bincount(target) / n), (n, 1)).astype(np.float32)
    test_raw = np.tile(raw[0], (len(test_codes), 1))
    importances = np.zeros(codes.shape[1])
    width = max(1, BLOCK // n)
    for _ in range(stages):
        chance = softmax(raw, axis=1)
        for block in (slice(first, first + width) for first in range(0, k, width)):
            residual = hit[:, block] - chance[:, block]
            curvature = chance[:, block] * (1 - chance[:, block])
            leaf, test_leaf, gains = _grow(binned, residual, bins)
            values = rate * (k - 1) / k * _leaf_values(leaf, residual, curvature)
            raw[:, block] += np.take_along_axis(values, leaf, axis=0)
            test_raw[:, block] += np.take_along_axis(values, test_leaf, axis=0)
            importances += gains
    importances = importances[np.argsort(order)]
    total = importances.sum()
    return Boosted(
        importances / total if total > 0 else importances,
        float(np.mean(raw.argmax(axis=1) == target)),
        float(np.mean(classes[test_raw.argmax(axis=1)] == test_labels)),
    )


def _bin(codes: Float[np.ndarray, "n d"], test_codes: Float[np.ndarray, "m d"], bins: int) -> _Binned:
    """Bins of equal frequency in the training sample."""
    n, d = codes.shape
    edges = np.quantile(codes, np.arange(1, bins) / bins, axis=0).T
    train, test = (
        np.stack([np.searchsorted(e, column) for e, column in zip(edges, table.T, strict=True)])
        for table in (codes, test_codes)
    )
    cells = train + bins * np.arange(d)[:, None]
    samples = np.tile(np.arange(n), d)
    table = csr_matrix((np.ones(n * d, np.float32), (cells.ravel(), samples)), shape=(d * bins, n))
    return _Binned(train.astype(np.uint8), test.astype(np.uint8), table)


def _grow(
    binned: _Binned, residual: np.ndarray, bins: int
) -> tuple[Int[np.ndarray, "n k"], Int[np.ndarray, "m k"], Float[np.ndarray, " d"]]:
    """Grows one tree per class; returns the leaves of the training and test samples and the gains of each dimension."""
    d = len(binned.train)
    k = residual.shape[1]
    shape = (d, bins, -1)
    counts = np.diff(binned.table.indptr).astype(np.float32).reshape(shape)
    everyone = np.ones((k, residual.shape[0]), dtype=bool)
    nodes = [_Node((binned.table @ residual).reshape(shape), counts, everyone)]
    turns, test_turns = [], []
    gains = np.zeros(d)
    for index in range(2**DEPTH - 1):  # in heap order: the children of node i are 2i + 1 and 2i + 2
        node = nodes[index]
        feature, cut, gain = _best_cuts(node)
        gains += gain
        turns.append(binned.train[feature] > cut[:, None])
        test_turns.append(binned.test[feature] > cut[:, None])
        if len(nodes) < 2**DEPTH - 1:
            left = node.inside & ~turns[-1]
            weight = np.ascontiguousarray(left.T, dtype=np.float32)
            below = binned.table @ np.concatenate([residual * weight, weight], axis=1)
            sums, counts = below[:, :k].reshape(shape), below[:, k:].reshape(shape)
            nodes.append(_Node(sums, counts, left))
            nodes.append(_Node(node.sums - sums, node.counts - counts, node.inside & turns[-1]))
        nodes[index] = node._replace(sums=node.sums[:0], counts=node.counts[:0])  # frees the memory
    return _leaves(turns), _leaves(test_turns), gains


def _best_cuts(node: _Node) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The dimension and bin of the best split for each class, and the reduction of the error by each dimension.

    Dimensions with equally good splits share the reduction, so that their order does not matter.
    """
    sums, counts = node.sums.cumsum(axis=1), node.counts.cumsum(axis=1)
    total, size = sums[:1, -1:], np.maximum(counts[:1, -1:], 1)
    sums, lefts = sums[:, :-1], counts[:, :-1]
    both = lefts * (size - lefts)
    gains = (sums - total * (lefts / size)) ** 2 * (size / np.maximum(both, 1))
    gains *= both > 0.5
    per_dim = gains.max(axis=1)
    top = per_dim.max(axis=0)
    tied = per_dim >= top * (1 - TIE)
    gain = (tied * (top / tied.sum(axis=0))).sum(axis=1)
    feature = per_dim.argmax(axis=0)
    cut = gains[feature, :, np.arange(len(feature))].argmax(axis=1)
    return feature, cut, gain


def _leaves(turns: list[np.ndarray]) -> Int[np.ndarray, "n k"]:
    """The leaf of each sample in the tree of each class, from the mask of samples that go right at each node."""
    position = np.zeros(turns[0].shape, dtype=np.int64)
    for depth in range(DEPTH):
        first = 2**depth - 1
        position = 2 * position + np.choose(position, turns[first : 2 * first + 1])
    return position.T


def _leaf_values(leaf: Int[np.ndarray, "n k"], residual: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """One Newton step on the log-likelihood in each leaf of each class."""
    k = leaf.shape[1]
    cells = (leaf * k + np.arange(k)).ravel()
    above, below = (np.bincount(cells, w.ravel(), 2**DEPTH * k) for w in (residual, curvature))
    steps = np.divide(above, below, out=np.zeros_like(above), where=below > 1e-9)
    return steps.reshape(-1, k).astype(np.float32)
