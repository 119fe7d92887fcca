"""Linear support vector machines on one dimension, all classes of all factors at once.

Fan et al., 2008, LIBLINEAR, JMLR 9; the problem is that of scikit-learn's `LinearSVC`: squared hinge, a
penalty on weight and intercept, one class against the rest.
"""

from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

STEPS = 60
HALVINGS = 30
TOLERANCE = 1e-9  # maximum gradient relative to its value at zero


def fit_one_dim_svms(
    code: Float[np.ndarray, " n"], targets: list[Int[np.ndarray, " n"]], *, penalty: float
) -> list[Float[np.ndarray, "2 _"]]:
    r"""Weight and intercept of every class of every target, for `LinearSVC(class_weight="balanced")`.

    .. math:: \min_{w,b} ½ (w² + b²) + \sum_i C_i \max(0, 1 - y_i (w x_i + b))²

    `targets` hold classes 0 to K - 1, all of them present; `penalty` is LIBLINEAR's C. As in LIBLINEAR, the
    balanced weight n / (K n_k) is that of the class itself, while the rest have weight 1; with two
    classes both have their balanced weight, and the second class is the positive one.

    On one dimension, the samples with nonzero loss are those below or above a threshold. Sums over them are therefore
    differences of running sums over the sorted dimension, and a Newton step costs log n per class.
    """
    order = np.argsort(code, kind="stable")
    x = code[order]
    rank = np.empty(len(x), dtype=np.int64)
    rank[order] = np.arange(len(x))
    counts = [np.bincount(target) for target in targets]
    problem = _Problem(x, rank, targets, counts, penalty)
    w, b = problem.solve()
    bounds = np.cumsum([0] + [len(count) for count in counts])
    return [
        np.stack([w[low:high], b[low:high]])[:, 1 if high - low == 2 else 0 :]
        for low, high in pairwise(bounds)
    ]


def predict_one_dim_svms(
    code: Float[np.ndarray, " n"], fitted: Float[np.ndarray, "2 _"]
) -> Int[np.ndarray, " n"]:
    """The class with the highest decision value; with two classes, 1 if the single decision value is positive."""
    w, b = fitted
    if w.size == 1:
        return (code * w[0] + b[0] > 0).astype(np.int64)
    return (code[:, None] * w + b).argmax(axis=1)


class _Problem:
    """All one-vs-rest problems, with the running sums that they share."""

    def __init__(
        self,
        x: Float[np.ndarray, " n"],
        rank: Int[np.ndarray, " n"],
        targets: list[Int[np.ndarray, " n"]],
        counts: list[Int[np.ndarray, " _"]],
        penalty: float,
    ) -> None:
        n = len(x)
        self.x, self.n = x, n
        self.sums = _running(x)
        firsts = np.cumsum([0] + [len(count) for count in counts])
        self.classes = int(firsts[-1])
        # Ranks sorted by class, then by rank, so that the samples of a class are consecutive.
        keys = [np.sort((t + f) * n + rank) for t, f in zip(targets, firsts[:-1], strict=True)]
        self.keys = np.concatenate(keys)
        self.own_sums = _running(x[self.keys % n])
        own = np.concatenate(counts)
        self.starts = np.concatenate([[0], np.cumsum(own)[:-1]])
        self.ends = np.cumsum(own)
        balanced = n / (np.repeat([len(count) for count in counts], [len(c) for c in counts]) * own)
        self.own_weight = penalty * balanced
        rest = [c[::-1] if len(c) == 2 else np.full(len(c), np.inf) for c in counts]
        # With two classes the rest is the other class, which has its balanced weight.
        rest = np.concatenate(rest)
        self.rest_weight = penalty * np.where(np.isinf(rest), 1.0, n / (2 * rest))

    def solve(self) -> tuple[Float[np.ndarray, " c"], Float[np.ndarray, " c"]]:
        """Newton's method with halved steps; the loss is convex and piecewise quadratic in (w, b)."""
        w, b = np.zeros(self.classes), np.zeros(self.classes)
        loss, slope, curve = self._loss(w, b)
        first = np.abs(slope).max(axis=0)
        for _ in range(STEPS):
            open_ = np.abs(slope).max(axis=0) > TOLERANCE * first
            if not open_.any():
                break
            (ww, wb, bb), (sw, sb) = curve, slope
            determinant = ww * bb - wb * wb
            step_w = (bb * sw - wb * sb) / determinant
            step_b = (ww * sb - wb * sw) / determinant
            descent = sw * step_w + sb * step_b
            size = open_.astype(np.float64)
            for _ in range(HALVINGS):
                new = self._loss(w - size * step_w, b - size * step_b)
                worse = new[0] > loss - 1e-4 * size * descent + 1e-12 * np.abs(loss)
                if not worse.any():
                    break
                size[worse] /= 2
            w, b = w - size * step_w, b - size * step_b
            loss, slope, curve = new
        return w, b

    def _loss(self, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The loss of each class, its two slopes (w, b) and its three curvatures (ww, wb, bb)."""
        own = self._own_losing(w, b)
        rest = self._rest_losing(w, b)
        loss = (w * w + b * b) / 2
        slope = np.stack([w, b])
        curve = np.stack([np.ones_like(w), np.zeros_like(w), np.ones_like(w)])
        for sign, weight, (count, first, second) in ((1, self.own_weight, own), (-1, self.rest_weight, rest)):
            # sums of m = 1 - sign (w x + b) over the losing samples, and of m², m x
            margin = count - sign * (w * first + b * count)
            margin_x = first - sign * (w * second + b * first)
            square = margin - sign * (w * margin_x + b * margin)
            loss += weight * square
            slope -= 2 * sign * weight * np.stack([margin_x, margin])
            curve += 2 * weight * np.stack([second, first, count])
        return loss, slope, curve

    def _own_losing(self, w: np.ndarray, b: np.ndarray) -> Float[np.ndarray, "3 c"]:
        """Count, sum and sum of squares of the class's samples with w x + b < 1."""
        position = np.searchsorted(self.x, _crossing(1 - b, w))
        middle = np.searchsorted(self.keys, np.arange(self.classes) * self.n + position)
        whole = self.own_sums[:, self.ends] - self.own_sums[:, self.starts]
        below = self.own_sums[:, middle] - self.own_sums[:, self.starts]
        return np.where(w > 0, below, np.where(w < 0, whole - below, whole * (b < 1)))

    def _rest_losing(self, w: np.ndarray, b: np.ndarray) -> Float[np.ndarray, "3 c"]:
        """Count, sum and sum of squares of the other samples with w x + b > -1."""
        position = np.searchsorted(self.x, _crossing(-1 - b, w))
        middle = np.searchsorted(self.keys, np.arange(self.classes) * self.n + position)
        own = self.own_sums[:, self.ends] - self.own_sums[:, self.starts]
        whole = self.sums[:, -1:] - own
        below = self.sums[:, position] - (self.own_sums[:, middle] - self.own_sums[:, self.starts])
        return np.where(w < 0, below, np.where(w > 0, whole - below, whole * (b > -1)))


def _running(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, "3 _"]:
    """Running count, sum and sum of squares, starting at 0."""
    return np.concatenate(
        [np.zeros((3, 1)), np.cumsum(np.stack([np.ones_like(x), x, x * x]), axis=1)], axis=1
    )


def _crossing(rise: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.divide(rise, w, out=np.zeros_like(w), where=w != 0)
