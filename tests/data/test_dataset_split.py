"""Splits of a dataset, src/unbraid/data/dataset_split.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.data.small_datasets import generator, grid, table
from unbraid.data.dataset import Dataset


@pytest.mark.parametrize("make", [grid, table], ids=["grid", "table"])
def test_a_split_shares_no_row(make) -> None:  # noqa: ANN001
    whole = make()
    kept, held_out = whole.split(0.4, generator())
    assert len(kept) + len(held_out) == len(whole)
    parts = [part.observe(part.sample_indices(200, generator())) for part in (kept, held_out)]
    seen = [set(part.flatten(1)[:, 0].tolist()) for part in parts]
    assert not seen[0] & seen[1]
    assert len(seen[0] | seen[1]) == len(whole)


@pytest.mark.parametrize("make", [grid, table], ids=["grid", "table"])
def test_a_split_keeps_instances_together(make) -> None:  # noqa: ANN001
    whole = make().replace(instance="b")
    kept, held_out = whole.split(0.3, generator())
    seen = [set(part.factors(part.indices())[:, 1].tolist()) for part in (kept, held_out)]
    assert (len(seen[0]), len(seen[1])) == (2, 1) and not seen[0] & seen[1]
    assert len(kept) + len(held_out) == len(whole) and kept.instance == "b"


def test_a_split_of_rows_without_factors() -> None:
    whole = Dataset(torch.arange(10.0)[:, None], name="rows", max_value=1)
    kept, held_out = whole.split(0.3, generator())
    assert (len(kept), len(held_out)) == (7, 3)
    assert_close(torch.cat([kept.source, held_out.source]).sort(0).values, whole.source)


def test_a_background_is_split_with_its_target() -> None:
    target, background = (torch.arange(count)[:, None] for count in (100, 50))
    whole = Dataset(target, name="target", background=Dataset(background, name="background"))
    kept, held_out = whole.split(0.2, generator())
    assert (len(kept), len(held_out)) == (80, 20)
    assert kept.background is not None and held_out.background is not None
    parts = [set(part.background.source[:, 0].tolist()) for part in (kept, held_out)]
    assert [len(part) for part in parts] == [40, 10] and not parts[0] & parts[1]
