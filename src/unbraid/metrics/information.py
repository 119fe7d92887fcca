"""Entropy and mutual information in nats, from counts and from nearest neighbors.

Counts: the plug-in estimate. Neighbors: Ross, 2014, Mutual Information between Discrete and Continuous
Data Sets, PLoS ONE 9(2); ties are treated as in Gao et al., 2017, arXiv:1709.06212.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy.special import digamma, xlogy

BINNINGS = ("equal_width", "equal_frequency")


def discretize(
    codes: Float[np.ndarray, "n d"], bins: int = 20, binning: str = "equal_width"
) -> Int[np.ndarray, "n d"]:
    """The bin, 0 to bins - 1, in which each value of each column falls.

    `equal_width` divides the range of a column into bins that include their lower edge; the last bin includes both.
    `equal_frequency` divides the ranks; tied values share a bin. A constant column becomes all zeros.
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1; got {bins}.")
    if binning not in BINNINGS:
        raise ValueError(f"binning must be one of {', '.join(BINNINGS)}; got {binning!r}.")
    cut = _equal_width if binning == "equal_width" else _equal_frequency
    return np.stack([cut(column, bins) for column in np.ascontiguousarray(codes.T)], axis=1)


def entropy(factors: Int[np.ndarray, "n k"]) -> Float[np.ndarray, " k"]:
    """H(v_k) of each column."""
    n = len(factors)
    shares = [np.bincount(relabel(column)) / n for column in factors.T]
    return np.array([-xlogy(p, p).sum() for p in shares])


def mutual_information(
    binned: Int[np.ndarray, "n d"], factors: Int[np.ndarray, "n k"]
) -> Float[np.ndarray, "d k"]:
    r"""I(z_j; v_k) of every pair of columns, from the table of their counts.

    .. math:: I = \sum_{a,b} p(a, b) \log(p(a, b) / (p(a) p(b)))

    Biased upwards by about (values of z - 1)(values of v - 1) / 2n. Exactly 0 for a constant column.
    """
    rows = [relabel(column) for column in binned.T]
    columns = [relabel(column) for column in factors.T]
    return np.array([[_information_of(row, column) for column in columns] for row in rows])


def neighbor_information(
    codes: Float[np.ndarray, "n d"], factors: Int[np.ndarray, "n k"], *, neighbors: int = 10
) -> Float[np.ndarray, "d k"]:
    r"""I(z_j; v_k) of continuous codes and discrete factors, without bins.

    .. math:: I = ψ(n) + ⟨ψ(k_i) - ψ(n_i) - ψ(m_i)⟩

    n_i is the number of samples with the factor value of sample i. The radius of sample i is the distance to the k-th
    nearest of them; k_i of them, and m_i of all samples, are within this radius. All ties within the radius count, so
    codes on a grid need no added noise. Values that occur once are left out.
    """
    if neighbors < 1:
        raise ValueError(f"neighbors must be at least 1; got {neighbors}.")
    labels = [relabel(column) for column in factors.T]
    return np.array(
        [[_neighbor_information_of(code, label, neighbors) for label in labels] for code in codes.T]
    )


def relabel(values: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """The values replaced by 0, 1, 2, … in ascending order."""
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * len(values) + 1024:  # a table of the range would be much larger than the sample
        return np.unique(values, return_inverse=True)[1].reshape(-1)
    shifted = values - low
    present = np.bincount(shifted, minlength=high - low + 1) > 0
    if present.all():
        return shifted
    return (np.cumsum(present) - 1)[shifted]


def _equal_width(column: Float[np.ndarray, " n"], bins: int) -> Int[np.ndarray, " n"]:
    low, high = column.min(), column.max()
    if low == high:
        return np.zeros(len(column), dtype=np.int64)
    edges = np.linspace(low, high, bins + 1)
    position = np.minimum(((column - low) / (high - low) * bins).astype(np.int64), bins - 1)
    # The division may round across an edge; comparison with the edges corrects this, as in numpy.digitize.
    position -= column < edges[position]
    position += (column >= edges[position + 1]) & (position < bins - 1)
    return position


def _equal_frequency(column: Float[np.ndarray, " n"], bins: int) -> Int[np.ndarray, " n"]:
    below = np.searchsorted(np.sort(column), column, side="left")
    return below * bins // len(column)


def _information_of(row: Int[np.ndarray, " n"], column: Int[np.ndarray, " n"]) -> float:
    n, width = len(row), int(column.max()) + 1
    joint = row * width + column
    if (int(row.max()) + 1) * width <= 4 * n + 1024:
        counts = np.bincount(joint)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:  # the table would be mostly empty, so sort in n log n
        cells, counts = np.unique(joint, return_counts=True)
    expected = np.bincount(row)[cells // width] * np.bincount(column)[cells % width]
    return max(0.0, float(counts @ np.log(counts * n / expected)) / n)


def _neighbor_information_of(
    code: Float[np.ndarray, " n"], label: Int[np.ndarray, " n"], neighbors: int
) -> float:
    keep = np.bincount(label)[label] > 1
    code, label = code[keep], label[keep]
    n = len(code)
    if n == 0 or (code == code[0]).all():
        return 0.0
    order = np.lexsort((code, label))
    code, label = code[order], label[order]
    count = np.bincount(label)
    end = np.cumsum(count)[label]
    size = count[label]
    k = np.minimum(neighbors, size - 1)
    radius = _radius(code, end - size, end, k)
    # Enlarged by a few rounding errors, so that x + (y - x) reaches y and symmetric ties count.
    radius += 8 * np.finfo(float).eps * (np.abs(code) + radius)
    values, rank = np.unique(code, return_inverse=True)
    low = np.searchsorted(values, code - radius, side="left")
    high = np.searchsorted(values, code + radius, side="right")
    below = np.concatenate([[0], np.cumsum(np.bincount(rank))])
    within = below[high] - below[low] - 1
    line = label * len(values)  # sorted keys of (class, rank)
    same = np.searchsorted(line + rank, line + high) - np.searchsorted(line + rank, line + low) - 1
    value = digamma(n) + np.mean(digamma(same) - digamma(size) - digamma(within))
    return max(0.0, float(value))


def _radius(
    code: Float[np.ndarray, " n"],
    start: Int[np.ndarray, " n"],
    end: Int[np.ndarray, " n"],
    k: Int[np.ndarray, " n"],
) -> Float[np.ndarray, " n"]:
    """Distance to the k-th nearest neighbor in the same range [start, end), in which the code is sorted.

    The k nearest neighbors are within one window of k + 1 consecutive samples; the minimum over all such windows is
    the distance.
    """
    position = np.arange(len(code))
    radius = np.full(len(code), np.inf)
    for before in range(int(k.max()) + 1):
        first, last = position - before, position - before + k
        inside = (before <= k) & (first >= start) & (last < end)
        first, last = np.where(inside, first, position), np.where(inside, last, position)
        reach = np.maximum(code - code[first], code[last] - code)
        radius = np.where(inside, np.minimum(radius, reach), radius)
    return radius
