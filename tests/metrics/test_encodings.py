"""Encoding each combination once, src/unbraid/metrics/encodings.py."""

from types import SimpleNamespace

import numpy as np
import pytest
from torch.testing import assert_close

from unbraid.metrics import encodings
from unbraid.metrics.encodings import Encodings, FactorGridSample, as_sizes


class Counting:
    """A represent function that remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []

    def __call__(self, factors: np.ndarray) -> np.ndarray:
        self.seen += [tuple(row) for row in factors.tolist()]
        return factors * np.array([1.0, 10.0, 100.0])


@pytest.mark.parametrize("dense", [1 << 26, 1])
def test_every_combination_is_encoded_once(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "DENSE", dense)
    represent = Counting()
    space = Encodings(represent, (2, 3, 4), batch=5)
    draws = [np.random.default_rng(0).integers(24, size=(7, 3)), np.array([0, 0, 23])]
    codes, rows = space.encode(draws)
    assert len(represent.seen) == len(set(represent.seen)) == space.encoded
    for draw, row in zip(draws, rows, strict=True):
        expected = np.stack(np.unravel_index(draw, (2, 3, 4)), axis=-1) * np.array([1.0, 10.0, 100.0])
        assert_close(codes[row], expected)


def test_a_function_may_know_how_many_combinations_it_takes() -> None:
    sizes: list[int] = []
    assert Encodings(Counting(), (2, 3, 4)).batch == 64

    class Batched(Counting):
        batch = 7

        def __call__(self, factors: np.ndarray) -> np.ndarray:
            sizes.append(len(factors))
            return super().__call__(factors)

    Encodings(Batched(), (2, 3, 4)).encode([np.arange(24)])
    assert sizes == [7, 7, 7, 3]
    assert Encodings(Batched(), (2, 3, 4), batch=5).batch == 5


def test_a_table_is_read_by_place() -> None:
    table = np.arange(24.0)[:, None]
    codes, (rows,) = Encodings(table, (2, 3, 4)).encode([np.array([5, 23])])
    assert_close(codes[rows], np.array([[5.0], [23.0]]))


def test_sizes_from_a_space() -> None:
    assert as_sizes(SimpleNamespace(sizes=(3, 4))).tolist() == [3, 4]


@pytest.mark.parametrize(("sizes", "points"), [((3, 4), 100), ((7, 5, 6), 60)])
def test_a_design_is_balanced_and_finds_who_shares_a_value(sizes: tuple[int, ...], points: int) -> None:
    rng = np.random.default_rng(0)
    design = FactorGridSample(np.array(sizes), points, rng)
    if np.prod(sizes) <= points:
        assert design.indices.tolist() == list(range(int(np.prod(sizes))))
    assert_close(np.stack(np.unravel_index(design.indices, sizes), axis=1), design.values)
    for factor, counts in enumerate(design.counts):
        assert counts.max() - counts.min() <= 1
        values = rng.integers(sizes[factor], size=50)
        assert_close(design.values[design.sample_with_value(factor, values, rng), factor], values)


def test_groups_of_a_design_share_a_value_and_repeat_no_sample() -> None:
    rng = np.random.default_rng(0)
    design = FactorGridSample(np.array([3, 4, 50]), 400, rng)
    for factor, size in ((0, 20), (1, 64), (2, 8)):
        values = rng.integers([3, 4, 50][factor], size=30)
        groups = design.sample_groups(factor, values, size, rng)
        assert_close(design.values[groups, factor], np.repeat(values[:, None], size, axis=1))
        assert all(len(np.unique(group)) == size for group in groups)
    crowded = design.sample_groups(2, np.array([7]), 20, rng)  # eight samples have the value: some come twice
    assert (design.values[crowded, 2] == 7).all()


@pytest.mark.parametrize(
    ("represent", "space", "sentence"),
    [
        (np.zeros((12, 2)), (3, 5), "12 rows for 15 samples"),
        (np.zeros((12, 2)), 12, "sizes of at least two factors"),
        (np.zeros((12, 2)), (12,), "sizes of at least two factors"),
        (np.zeros((12, 2)), (12.0, 1.0), "as integers"),
        (np.zeros((12, 2)), (12, 1), "at least two values"),
        (np.zeros((12, 2)), (2**31, 2**31), "fewer than 2\\^62"),
        (np.full((4, 2), np.nan), (2, 2), "codes_on_grid must be finite"),
        (lambda factors: np.zeros(len(factors)), (2, 2), "one row of codes for each of 4"),
        (lambda factors: np.zeros((1, 2)), (2, 2), "one row of codes for each of 4"),
        (lambda factors: np.full((len(factors), 2), np.inf), (2, 2), "must be finite"),
    ],
)
def test_mistakes_get_one_sentence(represent: object, space: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Encodings(represent, space).encode([np.arange(4)])  # type: ignore[arg-type]
