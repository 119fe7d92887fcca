"""Rows that show the same thing, src/unbraid/data/instances.py."""

import pytest
import torch
from scipy.stats import chisquare

from unbraid.data.instances import Kin, parts


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


INSTANCES = torch.tensor([7, 2, 7, 7, 2, 9])


def test_siblings_are_the_other_rows_of_an_instance_equally_often() -> None:
    kin = Kin.of(INSTANCES, torch.arange(6))
    found = kin.siblings(torch.zeros(6_000, dtype=torch.long), generator())
    counts = torch.bincount(found, minlength=6)
    assert counts[[0, 1, 4, 5]].sum() == 0
    assert chisquare(counts[[2, 3]].numpy()).pvalue > 1e-3
    assert kin.siblings(torch.tensor([1, 4, 2]), generator())[:2].tolist() == [4, 1]


def test_a_row_that_is_alone_is_its_own_sibling() -> None:
    kin = Kin.of(INSTANCES, torch.arange(6))
    assert kin.siblings(torch.tensor([5]), generator()).tolist() == [5]
    assert kin.fewest == 1
    assert Kin.of(INSTANCES, torch.arange(5)).fewest == 2


def test_rows_that_cannot_be_drawn_are_nobodys_sibling() -> None:
    kin = Kin.of(INSTANCES, torch.tensor([0, 1, 3, 4]))
    assert set(kin.siblings(torch.zeros(100, dtype=torch.long), generator()).tolist()) == {3}


def test_parts_share_nothing_and_stay_in_order() -> None:
    kept, held_out = parts(torch.tensor([3, 5, 8, 13]), 0.25, generator())
    assert (len(kept), len(held_out)) == (3, 1)
    assert sorted([*kept.tolist(), *held_out.tolist()]) == [3, 5, 8, 13]
    assert kept.tolist() == sorted(kept.tolist())
    with pytest.raises(ValueError, match="leaves nothing in one part"):
        parts(torch.arange(4), 0.1, generator())
    with pytest.raises(ValueError, match="between 0 and 1"):
        parts(torch.arange(4), 1.0, generator())
