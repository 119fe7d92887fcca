"""The order in which scikit-learn's tree builder visits codes and adds up samples.

Where two cuts are equally good, that order and the rounding that comes with it decide between them; these
functions repeat it, so that ties fall as scikit-learn's fall for the same seed.
"""

import numpy as np
from jaxtyping import Bool, Float, Int


def running_sum(values: Float[np.ndarray, " m"]) -> float:
    """The sum taken one value after another, not pairwise as `numpy.sum` does."""
    return float(values.cumsum()[-1])


def left_sums(
    values: Float[np.ndarray, " m"], positions: Int[np.ndarray, " c"], total: float
) -> Float[np.ndarray, " c"]:
    """The sums of the first 1, 2, … values at those `positions` where a cut is allowed.

    From one position to the next the builder adds what lies between, or, where that is shorter, starts again
    from the total and takes off what lies behind; with a cut at every position it only ever adds.
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
    """One side of a node as scikit-learn leaves it: wrong elements swapped with the far end, in place."""
    count = int(goes_left.sum())
    stays, head = goes_left[:count], row[:count]
    back, tail = goes_left[count:][::-1], row[count:][::-1]
    if side == 1:
        arranged = head.copy()
        arranged[~stays] = tail[back]
        return arranged
    # A wrong element goes to the far end; what it displaced is looked at next, and if that belongs on this
    # side too it moves one place in. The last filler is what stood where the sides meet.
    opened = np.concatenate([[True], back[:-1]])
    fillers = np.concatenate([head[~stays], tail[-1:]])
    moved_in = np.concatenate([tail[:1], tail[:-1]])
    return np.where(opened, fillers[opened.cumsum() - 1], moved_in)[::-1]


class Visits:
    """The order in which the splitter visits the codes of one node after another, from its 31-bit seed."""

    def __init__(self, state: int, d: int) -> None:
        self.state = state
        self.features = list(range(d))

    def of_node(self, flat: Bool[np.ndarray, " d"], known: list[int]) -> tuple[list[int], list[int]]:
        """The codes that can be cut, in order of visit, and the constant ones, in order of discovery.

        `flat` says which codes are constant in the node, `known` which of them were so in its parent.
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
