"""Independent and contrasting observations, and what draws can do, src/unbraid/data/draws.py."""

import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor
from torch.testing import assert_close

from tests.data.small_datasets import NUMBERS as SPACE
from tests.data.small_datasets import generator
from tests.data.small_datasets import numbers as dataset
from unbraid.data.dataset import Dataset
from unbraid.data.draws import (
    DRAWS,
    ChecksBatchSize,
    ChecksCUDAGraph,
    ChoosesClass,
    ContrastDraw,
    CountsLabels,
    Draw,
    IIDDraw,
    PairDraw,
    SeesBackground,
)
from unbraid.data.factors import FactorSpace
from unbraid.types import Batch, ContrastBatch, PairBatch, SetBatch, ViewBatch


def even(counts: Tensor) -> bool:
    return chisquare(counts.double().numpy()).pvalue > 1e-3


def contrasted(target: int = 20, background: int = 12) -> Dataset:
    """Rows that hold their row number, below zero in the background."""
    space = FactorSpace({"a": 4, "b": 5})
    other = Dataset(-1 - torch.arange(float(background))[:, None], name="others", max_value=1)
    rows = torch.arange(float(target))[:, None]
    return Dataset(rows, name="numbers", max_value=1, factor_space=space, label="a", background=other)


def test_independent_observations_carry_what_is_known() -> None:
    batch = IIDDraw()(dataset(label="c", nuisances=("a",)), 100, generator(), torch.tensor(0))
    assert_close(SPACE.index(batch.factors), batch.x[:, 0].long())
    assert_close(batch.labels, batch.factors[:, 2])
    assert_close(batch.nuisances, batch.factors[:, :1])


def test_every_batch_type_has_its_draw() -> None:
    assert DRAWS[Batch] is IIDDraw
    assert DRAWS[PairBatch] is PairDraw


def test_contrasts_are_drawn_from_target_and_background() -> None:
    data = contrasted()
    batches = [ContrastDraw()(data, 12, generator(seed), torch.tensor(0)) for seed in range(200)]
    target, background = (torch.cat([batch[part] for batch in batches]) for part in (0, 1))
    assert target.min() >= 0 and background.max() < 0
    assert even(target[:, 0].long().bincount()) and even((-1 - background[:, 0]).long().bincount())
    first = batches[0]
    assert first.labels is not None and first.factors is not None
    assert_close(first.labels, first.target[:, 0].long() // 5)
    assert_close(first.factors[:, 1], first.target[:, 0].long() % 5)


def test_contrasts_need_a_background() -> None:
    with pytest.raises(ValueError, match=r"numbers has none\. Pass --background"):
        ContrastDraw().check(dataset())


def test_a_batch_larger_than_target_or_background_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"batch of 16 needs 16 .* the background others has 12: lower --batch-size"
    ):
        ContrastDraw().check_batch_size(contrasted(), 16)
    with pytest.raises(
        ValueError, match=r"batch of 24 needs 24 .* the target numbers has 20: lower --batch-size"
    ):
        ContrastDraw().check_batch_size(contrasted(20, 40), 24)


def test_independent_observations_of_data_with_a_background_are_of_both_and_are_unmarked() -> None:
    batch = IIDDraw()(contrasted(), 9, generator(), torch.tensor(0))
    assert (batch.x >= 0).sum() == 5 and (batch.x < 0).sum() == 4
    assert batch.labels is None and batch.factors is None


@pytest.mark.parametrize(
    ("protocol", "batches"),
    [
        (Draw, {Batch, PairBatch, ContrastBatch, SetBatch, ViewBatch}),
        (ChecksBatchSize, {ContrastBatch}),
        (ChecksCUDAGraph, {PairBatch}),
        (ChoosesClass, {PairBatch}),
        (CountsLabels, {ViewBatch}),
        (SeesBackground, {Batch, ContrastBatch}),
    ],
)
def test_what_each_draw_can_do(protocol: type, batches: set[type]) -> None:
    assert {batch for batch, draw in DRAWS.items() if isinstance(draw(), protocol)} == batches
