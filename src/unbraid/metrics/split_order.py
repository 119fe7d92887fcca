"""The order in which scikit-learn's tree builder visits dimensions and sums samples.

This order and its rounding determine which of two equally good splits is chosen. These functions reproduce it, so that
ties are resolved as in scikit-learn for the same seed.
"""

import numpy as np
from jaxtyping import Bool, Float, Int


def running_sum(values: Float[np.ndarray, " m"]) -> float:
    """The sequential sum of the values, not the pairwise sum of `numpy.sum`."""
    return float(values.cumsum()[-1])


def left_sums(
    values: Float[np.ndarray, " m"], positions: Int[np.ndarray, " c"], total: float
) -> Float[np.ndarray, " c"]:
    """The sums of the values before each of the `positions` at which a split is allowed.

    From one position to the next, the builder adds the values between them. If fewer values come after the position,
    it subtracts those from the total instead. With a split at every position it only adds.
    """
    sums = np.empty(len(positions))
    steps = np.diff(positions, prepend=0)
    jumps = [*np.flatnonzero(steps > 1).tolist(), len(positions)]
    here, reached, done = 0.0, 0, 0
    for jump in jumps:
        if jump > done:  # single steps up to the jump
            run = np.concatenate([[here], values[reached : positions[jump - 1]]]).cumsum()[1:]
            sums[done:jump] = run
            here, reached = float(run[-1]), int(positions[jump - 1])
        if jump < len(positions):
            there = int(positions[jump])
            if there - reached <= len(values) - there:
                here = running_sum(np.concatenate([[here], values[reached:there]]))
            else:
                here = running_sum(np.concatenate([[total], -values[there:][::-1]]))
            sums[jump], reached, done = here, there, jump + 1
    return sums


def swap_apart(
    row: Int[np.ndarray, " m"], goes_left: Bool[np.ndarray, " m"], side: int
) -> Int[np.ndarray, " _"]:
    """One side of a node in scikit-learn's order: elements of the other side are swapped with the far end, in place."""
    count = int(goes_left.sum())
    stays, head = goes_left[:count], row[:count]
    back, tail = goes_left[count:][::-1], row[count:][::-1]
    if side == 1:
        arranged = head.copy()
        arranged[~stays] = tail[back]
        return arranged
    # An element of the other side goes to the far end; the displaced element is examined next, and if it also belongs
    # to this side it moves inward by one position. The last filler is the element at the boundary of the two sides.
    opened = np.concatenate([[True], back[:-1]])
    fillers = np.concatenate([head[~stays], tail[-1:]])
    moved_in = np.concatenate([tail[:1], tail[:-1]])
    return np.where(opened, fillers[opened.cumsum() - 1], moved_in)[::-1]


class FeatureOrder:
    """The order in which the splitter visits the dimensions of consecutive nodes, from its 31-bit seed."""

    def __init__(self, state: int, d: int) -> None:
        self.state = state
        self.features = list(range(d))
        self._nodes: list[tuple[np.ndarray, int]] = []  # constant dimensions and parent of each node
        self._visits: list[tuple[list[int], list[int]]] = []  # of the nodes of which they were asked for

    def add(self, flat: Bool[np.ndarray, " d"], parent: int) -> int:
        """The number of the next node, a child of the node `parent` (-1: of none); `flat` as in `of_node`."""
        self._nodes.append((flat, parent))
        return len(self._nodes) - 1

    def visited(self, node: int) -> list[int]:
        """The dimensions of a node in order of visit. Few nodes need it, so it is computed when it is asked for."""
        while len(self._visits) <= node:
            flat, parent = self._nodes[len(self._visits)]
            self._visits.append(self.of_node(flat, self._visits[parent][1] if parent >= 0 else []))
        return self._visits[node][0]

    def of_node(self, flat: Bool[np.ndarray, " d"], known: list[int]) -> tuple[list[int], list[int]]:
        """The dimensions that can be split, in order of visit, and the constant ones, in order of discovery.

        `flat` is the mask of the dimensions that are constant in the node; `known` lists those that are constant in its
        parent.
        """
        features, end = self.features, len(self.features)
        features[: len(known)] = known
        drawn = found = 0
        visited = []
        while end > len(known) + found:
            pick = drawn + self._draw() % (end - found - drawn)
            if pick < len(known):
                features[drawn], features[pick] = features[pick], features[drawn]
                drawn += 1
                continue
            pick += found
            feature = features[pick]
            swap = len(known) + found if flat[feature] else end - 1
            features[pick], features[swap] = features[swap], features[pick]
            if flat[feature]:
                found += 1
            else:
                end -= 1
                visited.append(feature)
        return visited, known + features[len(known) : len(known) + found]

    def _draw(self) -> int:
        """A xorshift generator (Marsaglia, 2003, Xorshift RNGs, Journal of Statistical Software 8(14))."""
        state = self.state or 1
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        state ^= (state << 5) & 0xFFFFFFFF
        self.state = state
        return state & 0x7FFFFFFF
