"""Rows of the same instance, src/unbraid/data/same_instance.py."""

import pytest
import torch
from scipy.stats import chisquare

from unbraid.data.same_instance import InstanceIndex, random_split


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


INSTANCES = torch.tensor([7, 2, 7, 7, 2, 9])


def test_siblings_are_the_other_rows_of_an_instance_equally_often() -> None:
    kin = InstanceIndex.of(INSTANCES, torch.arange(6))
    found = kin.sample_partner(torch.zeros(6_000, dtype=torch.long), generator())
    counts = torch.bincount(found, minlength=6)
    assert counts[[0, 1, 4, 5]].sum() == 0
    assert chisquare(counts[[2, 3]].numpy()).pvalue > 1e-3
    assert kin.sample_partner(torch.tensor([1, 4, 2]), generator())[:2].tolist() == [4, 1]


def test_a_single_row_is_its_own_partner() -> None:
    kin = InstanceIndex.of(INSTANCES, torch.arange(6))
    assert kin.sample_partner(torch.tensor([5]), generator()).tolist() == [5]
    assert kin.min_rows == 1
    assert InstanceIndex.of(INSTANCES, torch.arange(5)).min_rows == 2


def test_rows_that_cannot_be_sampled_are_no_partners() -> None:
    kin = InstanceIndex.of(INSTANCES, torch.tensor([0, 1, 3, 4]))
    assert set(kin.sample_partner(torch.zeros(100, dtype=torch.long), generator()).tolist()) == {3}


def test_splits_are_disjoint_and_in_order() -> None:
    kept, held_out = random_split(torch.tensor([3, 5, 8, 13]), 0.25, generator())
    assert (len(kept), len(held_out)) == (3, 1)
    assert sorted([*kept.tolist(), *held_out.tolist()]) == [3, 5, 8, 13]
    assert kept.tolist() == sorted(kept.tolist())
    with pytest.raises(ValueError, match="leaves one split empty"):
        random_split(torch.arange(4), 0.1, generator())
    with pytest.raises(ValueError, match="between 0 and 1"):
        random_split(torch.arange(4), 1.0, generator())
