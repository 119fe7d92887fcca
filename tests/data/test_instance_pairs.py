"""Two readings of pairs where several rows show one instance, src/unbraid/data/instance_pairs.py."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.data.small_datasets import generator
from tests.data.small_datasets import numbers as dataset
from tests.data.test_pair_draw import differences, draw, even
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.pair_draw import PairDraw
from unbraid.schedules import Linear


def things(colorings: int = 4, **roles: Any) -> tuple[Dataset, Tensor]:
    """Forty things of two classes, each in some of six combinations of colors; an observation is its row number."""
    space = FactorSpace({"class": 2, "thing": 40, "ground": 3, "ink": 2, "angle": 2})
    order = torch.rand(40, 6, generator=generator()).argsort(1)[:, :colorings]
    thing = torch.arange(40).repeat_interleave(colorings)
    shown = order.flatten()
    values = torch.stack([thing % 2, thing, shown // 2, shown % 2, thing // 2 % 2], 1)
    settings = {"label": "class", "nuisances": ("ground", "ink"), "hidden_nuisances": ("angle",)}
    rows = torch.arange(float(len(values)))[:, None]
    data = Dataset(
        rows,
        name="things",
        max_value=1,
        factor_space=space,
        combinations=space.index(values),
        instance="thing",
        **(settings | roles),
    )
    return data, values


def test_the_same_instance_in_k_other_factors() -> None:
    """All such pairs are equally likely, and no other pair is drawn."""
    data, values = things()
    pairs = [
        (a, b, int((values[a] != values[b]).sum()))
        for a in range(len(values))
        for b in range(len(values))
        if a != b and values[a, 1] == values[b, 1]
    ]
    for k in (1, 2):
        batch = draw("exactly", 40_000, data=data, k=k, same_class=True)
        assert_close(batch.k, torch.full((40_000,), k))
        drawn = (batch.x1[:, 0] * len(values) + batch.x2[:, 0]).long()
        counts = torch.bincount(drawn, minlength=len(values) ** 2)
        expected = [a * len(values) + b for a, b, differing in pairs if differing == k]
        assert even(counts[expected]) and counts.sum() == counts[expected].sum()


def test_weights_decide_how_often_a_pair_of_one_instance_is_drawn() -> None:
    data, _ = things(6)
    data = data.with_factor_distribution(
        lambda space: space.weighted(torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64), "ground")
    )
    batch = draw("exactly", 40_000, data=data, k=1)
    counts = torch.bincount(batch.factors[:, 2], minlength=3).double()
    assert_close(counts / counts.sum(), torch.tensor([1, 2, 5]).double() / 8, atol=0.02, rtol=0)


def test_the_warm_up_by_difficulty_on_instances() -> None:
    """Both readings follow the schedule of k; the first observation of the second reading is drawn as a sample."""
    data, _ = things()
    for partner in ("same-instance", "other-instance"):
        pairs = PairDraw(k_schedule=Linear(1.0, 2.0, 10), partner=partner, same_class=True)
        pairs.check(data)
        for step, k in ((0, 1), (10, 2)):
            batch = pairs(data, 500, generator(), torch.tensor(step))
            changed = differences(batch)
            assert batch.k.unique().tolist() == [k]
            assert (changed[:, 2:4].sum(1) == k).all() and not changed[:, [0, 4]].any()
            assert changed[:, 1].all() == (partner == "other-instance")


def test_another_instance_has_the_changed_factors() -> None:
    """Label and hidden nuisances are shared; every other thing with these factors is equally likely."""
    data, values = things()
    batch = draw("exactly", 60_000, data=data, partner="other-instance", k=1, same_class=True)
    changed = differences(batch)
    assert changed[:, 1].all() and not changed[:, [0, 4]].any()
    assert (changed[:, 2:4].sum(1) == 1).all()
    assert_close(values[batch.x2[:, 0].long()], batch.factors2)
    row = 5
    partners = torch.bincount(batch.x2[batch.x1[:, 0] == row][:, 0].long(), minlength=len(values))
    inked = (values[:, [0, 2, 4]] == values[row, [0, 2, 4]]).all(1) & (values[:, 3] != values[row, 3])
    allowed = inked & (values[:, 1] != values[row, 1])
    assert partners[inked].sum() > 0 and partners[inked & ~allowed].sum() == 0
    assert even(partners[allowed])
    assert even(torch.bincount(batch.x1[:, 0].long()))


def test_another_instance_keeps_to_the_factors_that_occur() -> None:
    """The class may change unless it must not; combinations without a row are never asked for."""
    data, values = things(2)
    free = draw("exactly", 2_000, data=data, partner="other-instance", k=1)
    assert differences(free)[:, 0].any()
    few = data.subset(torch.arange(12))
    batch = draw("exactly", 2_000, data=few, partner="other-instance", same_class=True)
    assert_close(values[batch.x2[:, 0].long()], batch.factors2)
    assert (differences(batch)[:, 2:4].sum(1) == batch.k).all()
    pairs = PairDraw(partner="other-instance")
    assert "found by trial" in (pairs.cuda_graph_unsupported(few) or "")
    assert pairs.cuda_graph_unsupported(things(6)[0]) is None
    assert PairDraw().cuda_graph_unsupported(few) is None


def test_mistakes_of_pairs_of_instances_get_one_sentence() -> None:
    data, _ = things()
    same = "Two rows of things that show the same thing differ in 1 or 2 factors; got"
    for settings, sentence in (
        ({"k": 3}, rf"{same} k=3\."),
        ({"k": -1}, rf"{same} k=-1\."),
        ({"k_schedule": Linear(1.0, 3.0, 5)}, rf"{same} linear:1\.0:3\.0:5"),
        ({"k_schedule": Linear(1.0, math.nan, 5)}, rf"{same} linear:1\.0:nan:5"),
        ({"pair_rule": "at-most"}, "leave out pair_rule and fixed_factors, or pass partner=other-instance"),
        ({"partner": "other-instance", "k": 3, "same_class": True}, "can change 1 to 2 factors; got k=3"),
    ):
        with pytest.raises(ValueError, match=sentence):
            PairDraw(**settings).check(data)
    with pytest.raises(ValueError, match=r"partner=other-instance requires .* and numbers has none"):
        PairDraw(partner="other-instance").check(dataset())
