"""Regression trees equal to scikit-learn's, found much faster.

Breiman et al., 1984, Classification and Regression Trees. `grow_tree` finds the splits of scikit-learn's
`DecisionTreeRegressor(max_depth=3)`:

- scikit-learn sorts every code again in every node of every tree. Here each code is sorted once, and the
  sorted lists are handed down the tree.
- The running sums of the target are taken in fixed point: integer sums run faster than float ones, and
  cuts that part a node alike get exactly the same gain, whatever the code.

Cuts that part a node alike are what scikit-learn's `random_state` decides. For those, and only for those,
`_untie` repeats scikit-learn's own float sums in its own order of visits.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from unbraid.metrics.split_order import Visits, left_sums, running_sum, swap_apart

DEPTH = 3
ROOM = 62  # bits for the fixed-point sums
TIE = 1e-9  # of the gain: above the error of the fixed-point sums, below any gap worth deciding
NOISE = 1e-12  # of the node's squared targets: above the error of scikit-learn's float sums
SAME_VALUE = np.float32(1e-7)  # scikit-learn never cuts between codes closer than this
NEARLY_PURE = 1e-11  # variances below this are found with scikit-learn's own rounding
PURE = float(np.finfo(np.float64).eps)  # scikit-learn does not split a node of a smaller variance


class Presorted(NamedTuple):
    """Codes in single precision, as scikit-learn's trees see them, and the order of each."""

    columns: Float32[np.ndarray, "d n"]
    order: Int[np.ndarray, "d n"]


class Tree(NamedTuple):
    """A tree in heap order: node i has the children 2i + 1 and 2i + 2; a missing node sends all left."""

    features: list[int]
    thresholds: list[float]
    gains: list[float]
    leaf: Int[np.ndarray, " n"]  # in which of the 2^DEPTH leaves each training sample falls


class _Node(NamedTuple):
    place: int  # in heap order
    order: Int[np.ndarray, "d m"]  # the samples of the node, sorted by each code
    constants: list[int]  # codes known to be constant here, in the order they were found
    arranged: Callable[[], Int[np.ndarray, " m"]]  # the samples in the order scikit-learn adds them up
    variance: Callable[[], float]  # as scikit-learn rounds it


class _Cut(NamedTuple):
    feature: int
    position: int
    gain: float


class Scratch:
    """Memory used again for every tree: fresh pages cost more than the sums themselves."""

    def __init__(self, d: int, n: int) -> None:
        self.sums = np.empty(d * n, dtype=np.int64)
        self.gains = np.empty(d * n)
        self.orders = [np.empty(d * n, dtype=np.int64) for _ in range(DEPTH)]
        self.flags = np.empty(d * n, dtype=bool)


def presort(codes: Float[np.ndarray, "n d"]) -> Presorted:
    """Sorts every code once, for all factors and all trees."""
    columns = np.ascontiguousarray(codes.T, dtype=np.float32)
    return Presorted(columns, np.argsort(columns, axis=1, kind="stable"))


def grow_tree(train: Presorted, target: Float[np.ndarray, " n"], state: int, scratch: Scratch) -> Tree:
    """The tree of scikit-learn's splitter started from the 31-bit `state`."""
    return _Grower(train, target, state, scratch).grow()


def route(tree: Tree, columns: Float32[np.ndarray, "d n"]) -> Int[np.ndarray, " n"]:
    """The leaf in which each sample falls."""
    right = [
        columns[f] > t if np.isfinite(t) else np.zeros(columns.shape[1], dtype=bool)
        for f, t in zip(tree.features, tree.thresholds, strict=True)
    ]
    place = np.zeros(columns.shape[1], dtype=np.int64)
    for depth in range(DEPTH):
        first = 2**depth - 1
        turn = right[first].copy()
        for node in range(1, 2**depth):
            turn = np.where(place == node, right[first + node], turn)
        place = 2 * place + turn
    return place


class _Grower:
    """Grows one regression tree, its nodes split in scikit-learn's order: left side first."""

    def __init__(
        self, train: Presorted, target: Float[np.ndarray, " n"], state: int, scratch: Scratch
    ) -> None:
        self.columns, self.order = train
        self.scratch = scratch
        self.target = target
        largest = float(np.abs(target).max())
        self.unit = 2.0 ** (np.ceil(np.log2(largest * len(target))) - ROOM) if largest > 0 else 1.0
        self.fixed = np.rint(target / self.unit).astype(np.int64)
        self.visits = Visits(state, len(self.columns))

    def grow(self) -> Tree:
        d, n = self.order.shape
        inner = 2**DEPTH - 1
        tree = Tree([0] * inner, [np.inf] * inner, [0.0] * inner, np.zeros(n, dtype=np.int64))
        left = np.zeros(n, dtype=bool)
        stack = [_Node(0, self.order, [], lambda: np.arange(n), self._root_variance)]
        while stack:
            node = stack.pop()
            cut, last = None, 0
            if node.place < inner and not self._is_pure(node):
                flat = self._values(node, -1) <= self._values(node, 0) + SAME_VALUE
                visited, constants = self.visits.of_node(flat, node.constants)
                node = node._replace(constants=constants)
                if visited:
                    cut, last = self._best_cut(node, visited), visited[-1]
            if cut is None:
                tree.leaf[node.order[0]] = _leaf_below(node.place)
                continue
            row = node.order[cut.feature]
            below, above = self.columns[cut.feature, row[cut.position - 1 : cut.position + 1]].astype(float)
            tree.features[node.place] = cut.feature
            tree.thresholds[node.place] = below / 2 + above / 2
            tree.gains[node.place] = cut.gain
            if 2 * node.place + 1 >= inner:
                tree.leaf[row[: cut.position]] = 2 * node.place + 1 - inner
                tree.leaf[row[cut.position :]] = 2 * node.place + 2 - inner
                continue
            left[row[: cut.position]] = True
            goes_left = self.scratch.flags[: node.order.size].reshape(d, -1)
            left.take(node.order, out=goes_left, mode="clip")
            left[row] = False
            apart = partial(swap_apart, node.order[last], goes_left[last].copy())
            room = self.scratch.orders[(node.place + 1).bit_length() - 1]
            parts = np.flatnonzero(goes_left), np.flatnonzero(~goes_left)
            outs = room[: parts[0].size], room[parts[0].size : node.order.size]
            for side in (2, 1):
                chosen = outs[side - 1].reshape(d, -1)
                node.order.take(parts[side - 1].reshape(d, -1), out=chosen, mode="clip")
                variance = partial(self._child_variance, node.arranged, apart, side)
                stack.append(
                    _Node(2 * node.place + side, chosen, node.constants, partial(apart, side), variance)
                )
        return tree

    def _values(self, node: _Node, position: int) -> Float32[np.ndarray, " d"]:
        return self.columns[np.arange(len(self.columns)), node.order[:, position]]

    def _is_pure(self, node: _Node) -> bool:
        values = self.target[node.order[0]]
        if values.size < 2:
            return True
        if values.var() > NEARLY_PURE:
            return False
        return node.variance() <= PURE

    def _root_variance(self) -> float:
        n = len(self.target)
        return running_sum(self.target**2) / n - (running_sum(self.target) / n) ** 2

    def _child_variance(self, parent: Callable, apart: Callable, side: int) -> float:
        whole, left, right = (self.target[part] for part in (parent(), apart(1), apart(2)))
        total, squares, left_squares = running_sum(whole), running_sum(whole**2), running_sum(left**2)
        if left.size <= right.size:
            left_sum = running_sum(left)
        else:
            left_sum = running_sum(np.concatenate([[total], -right[::-1]]))
        if side == 1:
            return left_squares / left.size - (left_sum / left.size) ** 2
        return (squares - left_squares) / right.size - ((total - left_sum) / right.size) ** 2

    def _best_cut(self, node: _Node, visited: list[int]) -> _Cut | None:
        r"""The cut that takes most of the node's squared error away.

        .. math:: gain = (S_l - S n_l / m)^2 m / (n_l n_r),   S_l the targets' sum over the left part
        """
        m = node.order.shape[1]
        sums, gains = (a[: node.order.size].reshape(-1, m) for a in (self.scratch.sums, self.scratch.gains))
        self.fixed.take(node.order, out=sums, mode="clip")
        np.cumsum(sums, axis=1, out=sums)
        total = float(sums[0, -1])
        lefts = np.arange(1, m, dtype=np.float64)
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
        close = top * (1 - TIE) - NOISE * float(np.square(self.target[node.order[0]]).sum())
        tied = [other for other in visited if best[other] >= close]
        if len(tied) > 1 or np.count_nonzero(gains[feature] >= close) > 1:
            feature, position = self._untie(node, tied)
            return _Cut(feature, position, float(gains[feature, position - 1]))
        return _Cut(feature, int(positions[feature]), float(top))

    def _cuttable(self, node: _Node, feature: int) -> Bool[np.ndarray, " cuts"]:
        values = self.columns[feature, node.order[feature]]
        return values[1:] > values[:-1] + SAME_VALUE

    def _untie(self, node: _Node, tied: list[int]) -> tuple[int, int]:
        """Which of equally good cuts scikit-learn's float sums prefer; the first one visited if none."""
        m = node.order.shape[1]
        total = running_sum(self.target[node.arranged()])
        choice, best = (tied[0], 1), -np.inf
        for feature in tied:
            lefts = np.flatnonzero(self._cuttable(node, feature)) + 1
            part = left_sums(self.target[node.order[feature]], lefts, total)
            rest = total - part
            proxy = part * part / lefts + rest * rest / (m - lefts)
            first = int(proxy.argmax())
            if proxy[first] > best:
                choice, best = (feature, int(lefts[first])), proxy[first]
        return choice


def _leaf_below(place: int) -> int:
    """The leaf that a sample of a node without a cut falls into: left all the way down."""
    while place < 2**DEPTH - 1:
        place = 2 * place + 1
    return place - (2**DEPTH - 1)
