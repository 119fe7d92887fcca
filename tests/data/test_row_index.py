"""Rows by factor combination, src/unbraid/data/row_index.py."""

import torch
from scipy.stats import chisquare

from unbraid.data.factors import FactorSpace
from unbraid.data.row_index import RowIndex

COMBINATIONS = torch.tensor([4, 0, 4, 5, 0, 4, 2])  # three rows of 4, two of 0, one each of 5 and 2
SPACE = FactorSpace({"a": 2, "b": 3}).restricted_to(COMBINATIONS)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_rows_are_sampled_evenly() -> None:
    rows = RowIndex(COMBINATIONS, SPACE)
    assert rows.observed().tolist() == list(range(7))
    counts = torch.bincount(rows.sample(14_000, generator()), minlength=7)
    assert chisquare(counts.numpy()).pvalue > 1e-3


def test_each_row_of_a_combination_is_sampled_equally_often() -> None:
    rows = RowIndex(COMBINATIONS, SPACE)
    sampled = rows.sample_with(torch.full((9_000,), 4), generator())
    counts = torch.bincount(sampled, minlength=7)
    assert set(sampled.tolist()) == {0, 2, 5}
    assert chisquare(counts[[0, 2, 5]].numpy()).pvalue > 1e-3
    assert rows.sample_with(torch.tensor([5, 2, 5]), generator()).tolist() == [3, 6, 3]


def test_rows_are_sampled_by_the_weights_of_their_combinations() -> None:
    # b = 0 weighs 3 and b = 1 weighs 1: rows 1 and 4 (combination 0) against 0, 2 and 5 (combination 4).
    rows = RowIndex(COMBINATIONS, SPACE.weighted(torch.tensor([3.0, 1.0, 0.0]), "b"))
    assert rows.observed().tolist() == [0, 1, 2, 4, 5]
    counts = torch.bincount(rows.sample(18_000, generator()), minlength=7)
    assert counts[[3, 6]].sum() == 0
    assert chisquare(counts[[0, 1, 2, 4, 5]].numpy(), [2000, 6000, 2000, 6000, 2000]).pvalue > 1e-3
