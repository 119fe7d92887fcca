"""Regression trees equal to scikit-learn's, computed much faster.

Breiman et al., 1984, Classification and Regression Trees. `grow_tree` finds the splits of scikit-learn's
`DecisionTreeRegressor(max_depth=3)`:

- scikit-learn sorts every dimension again in every node of every tree. Here each dimension is sorted once, and the
  nodes inherit the sorted lists.
- The running sums of the target are in fixed point. Integer sums are faster than float sums, and cuts that split a
  node into the same children get exactly the same gain in every dimension.

scikit-learn's `random_state` determines which of several cuts with the same children is chosen. For these cuts only,
`_untie` reproduces the float sums of scikit-learn in its order of visits.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from unbraid.metrics.split_order import FeatureOrder, left_sums, running_sum, swap_apart

DEPTH = 3
ROOM = 62  # bits for the fixed-point sums
TIE = 1e-9  # relative difference of tied gains; exceeds the error of the fixed-point sums
NOISE = 1e-12  # relative to the sum of squared targets; exceeds the error of scikit-learn's float sums
SAME_VALUE = np.float32(1e-7)  # scikit-learn never cuts between values closer than this
NEARLY_PURE = 1e-11  # variances below this are computed with scikit-learn's rounding
PURE = float(np.finfo(np.float64).eps)  # scikit-learn does not split a node with a smaller variance


class Presorted(NamedTuple):
    """Codes in single precision, as in scikit-learn's trees, and the sorted order of each dimension."""

    columns: Float32[np.ndarray, "d n"]
    order: Int[np.ndarray, "d n"]


class Tree(NamedTuple):
    """A tree in heap order: node i has the children 2i + 1 and 2i + 2; at a missing node, all samples go left."""

    features: list[int]
    thresholds: list[float]
    gains: list[float]
    leaf: Int[np.ndarray, " n"]  # index of the leaf of each training sample, below 2^DEPTH


class _Node(NamedTuple):
    slot: int  # index in heap order
    order: Int[np.ndarray, "d m"]  # the samples of the node, sorted by each dimension
    visit: int  # number in the order of visits; that of its parent until the node is visited itself
    arranged: Callable[[], Int[np.ndarray, " m"]]  # the samples in the order in which scikit-learn sums them
    variance: Callable[[], float]  # with the rounding of scikit-learn


class _Cut(NamedTuple):
    feature: int
    position: int
    gain: float


class Scratch:
    """Memory that all trees share: new pages cost more time than the sums."""

    def __init__(self, d: int, n: int) -> None:
        self.sums = np.empty(d * n, dtype=np.int64)
        self.gains = np.empty(d * n)
        self.orders = [np.empty(d * n, dtype=np.int64) for _ in range(DEPTH)]
        self.flags = np.empty(d * n, dtype=bool)
        self.lefts = np.arange(1, n, dtype=np.float64)


def presort(codes: Float[np.ndarray, "n d"]) -> Presorted:
    """Sorts every dimension once, for all factors and all trees."""
    columns = np.ascontiguousarray(codes.T, dtype=np.float32)
    return Presorted(columns, np.argsort(columns, axis=1, kind="stable"))


def grow_tree(train: Presorted, target: Float[np.ndarray, " n"], state: int, scratch: Scratch) -> Tree:
    """The tree that scikit-learn grows from the 31-bit random `state`."""
    return _Grower(train, target, state, scratch).grow()


def route(tree: Tree, columns: Float32[np.ndarray, "d n"]) -> Int[np.ndarray, " n"]:
    """The leaf of each sample."""
    right = [
        columns[f] > t for f, t in zip(tree.features, tree.thresholds, strict=True)
    ]  # none is above infinity
    position = np.zeros(columns.shape[1], dtype=np.int64)
    turns: list[np.ndarray] = []
    for depth in range(DEPTH):
        level = right[2**depth - 1 : 2 ** (depth + 1) - 1]
        for turn in reversed(turns):  # the last turn halves the nodes of the level, then the turn before it
            level = [np.where(turn, after, before) for before, after in pairwise(level)][::2]
        turns.append(level[0])
        position += position + level[0]
    return position


class _Grower:
    """Grows one regression tree and splits its nodes in scikit-learn's order: left side first."""

    def __init__(
        self, train: Presorted, target: Float[np.ndarray, " n"], state: int, scratch: Scratch
    ) -> None:
        self.columns, self.order = train
        self.scratch = scratch
        self.target = target
        largest = float(np.abs(target).max())
        self.unit = 2.0 ** (np.ceil(np.log2(largest * len(target))) - ROOM) if largest > 0 else 1.0
        self.fixed = np.rint(target / self.unit).astype(np.int64)
        self.visits = FeatureOrder(state, len(self.columns))

    def grow(self) -> Tree:
        n = self.order.shape[1]
        inner = 2**DEPTH - 1
        tree = Tree([0] * inner, [np.inf] * inner, [0.0] * inner, np.zeros(n, dtype=np.int64))
        stack = [_Node(0, self.order, -1, lambda: np.arange(n), self._root_variance)]
        while stack:
            node, cut = stack.pop(), None
            if node.slot < inner and (squares := self._squares(node)) is not None:
                flat = self._values(node, -1) <= self._values(node, 0) + SAME_VALUE
                node = node._replace(visit=self.visits.add(flat, node.visit))
                if not flat.all():
                    cut = self._best_cut(node, flat, squares)
            if cut is None:
                tree.leaf[node.order[0]] = _leaf_below(node.slot)
                continue
            row = node.order[cut.feature]
            below, above = self.columns[cut.feature, row[cut.position - 1 : cut.position + 1]].astype(float)
            tree.features[node.slot] = cut.feature
            tree.thresholds[node.slot] = below / 2 + above / 2
            tree.gains[node.slot] = cut.gain
            if 2 * node.slot + 1 >= inner:
                tree.leaf[row[: cut.position]] = 2 * node.slot + 1 - inner
                tree.leaf[row[cut.position :]] = 2 * node.slot + 2 - inner
                continue
            stack += self._children(node, cut)
        return tree

    def _children(self, node: _Node, cut: _Cut) -> list[_Node]:
        """The two sides of a cut, the right one first."""
        d = len(self.columns)
        left = self._left(node, cut)
        goes_left = self.scratch.flags[: node.order.size].reshape(d, -1)
        left.take(node.order, out=goes_left, mode="clip")
        samples = np.flatnonzero(goes_left), np.flatnonzero(~goes_left)
        room = self.scratch.orders[(node.slot + 1).bit_length() - 1]
        outs = room[: samples[0].size], room[samples[0].size : node.order.size]
        apart = partial(self._apart, node, cut)
        children = []
        for side in (2, 1):
            chosen = outs[side - 1].reshape(d, -1)
            node.order.take(samples[side - 1].reshape(d, -1), out=chosen, mode="clip")
            variance = partial(self._child_variance, node.arranged, apart, side)
            children.append(_Node(2 * node.slot + side, chosen, node.visit, partial(apart, side), variance))
        return children

    def _left(self, node: _Node, cut: _Cut) -> Bool[np.ndarray, " n"]:
        left = np.zeros(len(self.target), dtype=bool)
        left[node.order[cut.feature, : cut.position]] = True
        return left

    def _apart(self, node: _Node, cut: _Cut, side: int) -> Int[np.ndarray, " m"]:
        """One side of a cut in the order in which scikit-learn sums it."""
        row = node.order[self.visits.visited(node.visit)[-1]]
        return swap_apart(row, self._left(node, cut)[row], side)

    def _values(self, node: _Node, position: int) -> Float32[np.ndarray, " d"]:
        return self.columns[np.arange(len(self.columns)), node.order[:, position]]

    def _squares(self, node: _Node) -> float | None:
        """The sum of the squared targets of a node; None if the node is pure, so that it is not split."""
        values = self.target.take(node.order[0])
        if values.size < 2:
            return None
        squares = float(values @ values)
        # The rounding of this variance is far below the bound.
        if squares / values.size - (float(values.sum()) / values.size) ** 2 > NEARLY_PURE:
            return squares
        return None if node.variance() <= PURE else squares

    def _root_variance(self) -> float:
        n = len(self.target)
        return running_sum(self.target**2) / n - (running_sum(self.target) / n) ** 2

    def _child_variance(self, parent: Callable, apart: Callable, side: int) -> float:
        whole, left, right = (self.target[samples] for samples in (parent(), apart(1), apart(2)))
        total, squares, left_squares = running_sum(whole), running_sum(whole**2), running_sum(left**2)
        if left.size <= right.size:
            left_sum = running_sum(left)
        else:
            left_sum = running_sum(np.concatenate([[total], -right[::-1]]))
        if side == 1:
            return left_squares / left.size - (left_sum / left.size) ** 2
        return (squares - left_squares) / right.size - ((total - left_sum) / right.size) ** 2

    def _best_cut(self, node: _Node, flat: Bool[np.ndarray, " d"], squares: float) -> _Cut | None:
        r"""The cut with the largest reduction of the squared error; None if no cut is possible.

        .. math:: gain = (S_l - S n_l / m)^2 m / (n_l n_r),   S_l = sum of the targets on the left
        """
        m = node.order.shape[1]
        sums, gains = (a[: node.order.size].reshape(-1, m) for a in (self.scratch.sums, self.scratch.gains))
        self.fixed.take(node.order, out=sums, mode="clip")
        np.cumsum(sums, axis=1, out=sums)
        total = float(sums[0, -1])
        lefts = self.scratch.lefts[: m - 1]
        gains = gains[:, :-1]
        np.copyto(gains, sums[:, :-1])
        gains -= lefts * (total / m)
        gains *= gains
        gains *= self.unit**2 * m / (lefts * (m - lefts))
        positions = gains.argmax(axis=1) + 1
        rows = np.arange(len(gains))
        low, high = (self.columns[rows, node.order[rows, positions + step]] for step in (-1, 0))
        for feature in np.flatnonzero(high <= low + SAME_VALUE).tolist():
            gains[feature, ~self._cuttable(node, feature)] = -1.0
            positions[feature] = gains[feature].argmax() + 1
        best = gains[rows, positions - 1]
        feature = int(best.argmax())
        top = best[feature]
        if top < 0:
            return None
        close = top * (1 - TIE) - NOISE * squares
        is_tied = (best >= close) & ~flat
        if is_tied.sum() > 1 or np.count_nonzero(gains[feature] >= close) > 1:
            tied = [other for other in self.visits.visited(node.visit) if is_tied[other]]
            feature, position = self._untie(node, tied)
            return _Cut(feature, position, float(gains[feature, position - 1]))
        return _Cut(feature, int(positions[feature]), float(top))

    def _cuttable(self, node: _Node, feature: int) -> Bool[np.ndarray, " cuts"]:
        values = self.columns[feature, node.order[feature]]
        return values[1:] > values[:-1] + SAME_VALUE

    def _untie(self, node: _Node, tied: list[int]) -> tuple[int, int]:
        """Dimension and position of the tied cut that scikit-learn's float sums prefer, otherwise of the first."""
        m = node.order.shape[1]
        total = running_sum(self.target[node.arranged()])
        choice, best = (tied[0], 1), -np.inf
        for feature in tied:
            lefts = np.flatnonzero(self._cuttable(node, feature)) + 1
            left = left_sums(self.target[node.order[feature]], lefts, total)
            right = total - left
            proxy = left * left / lefts + right * right / (m - lefts)
            first = int(proxy.argmax())
            if proxy[first] > best:
                choice, best = (feature, int(lefts[first])), proxy[first]
        return choice


def _leaf_below(index: int) -> int:
    """The leftmost leaf below a node, which receives the samples of a node without a cut."""
    while index < 2**DEPTH - 1:
        index = 2 * index + 1
    return index - (2**DEPTH - 1)
