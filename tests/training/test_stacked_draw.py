"""Batches of stacked trainings, src/unbraid/training/stacked_draw.py."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Generator, Tensor
from torch.testing import assert_close
from torch.utils._pytree import tree_leaves

from unbraid.data import ContrastDraw, Dataset, Draw, FactorSpace, IIDDraw, PairDraw, SetDraw, ViewDraw
from unbraid.data.mixture import mixture
from unbraid.data.sprites import sprites
from unbraid.schedules import Linear
from unbraid.training.stacked_draw import StackedDraw
from unbraid.training.stacked_step import stack_batches
from unbraid.types import Batch

MODELS, SIZE = 3, 8


def stored() -> Dataset:
    space = FactorSpace({"shape": 3, "color": 4})
    x = torch.randint(256, (12, 1, 4, 4), dtype=torch.uint8, generator=Generator().manual_seed(0))
    return Dataset(x, name="stored", factor_space=space, label="shape", nuisances=("color",))


def with_background() -> Dataset:
    return stored().with_background(Dataset(torch.zeros(9, 1, 4, 4, dtype=torch.uint8), name="background"))


def drawn(
    draw: Draw, dataset: Dataset, steps: Tensor | None = None, *, same_data: bool = True
) -> StackedDraw:
    generators = [Generator().manual_seed(seed) for seed in range(MODELS)]
    steps = torch.zeros(MODELS, dtype=torch.long) if steps is None else steps
    return StackedDraw([draw] * MODELS, [dataset] * MODELS, SIZE, generators, steps, same_data=same_data)


def alone(draw: Draw, dataset: Dataset, step: int = 0) -> list[Any]:
    generators = [Generator().manual_seed(seed) for seed in range(MODELS)]
    return [draw(dataset, SIZE, generator, torch.tensor(step)) for generator in generators]


@pytest.mark.parametrize(
    ("draw", "dataset"),
    [
        (IIDDraw(), stored()),
        (IIDDraw(), sprites(image_size=32)),
        (IIDDraw(), with_background()),
        (PairDraw(), sprites(image_size=32)),
        (PairDraw(k=1), stored()),
        (ContrastDraw(), with_background()),
        (ViewDraw(), stored()),
        (SetDraw(), mixture()),
    ],
    ids=["batch", "rendered", "mixed", "pairs", "stored pairs", "contrast", "views", "sets"],
)
def test_all_batches_at_once_are_those_of_each_training(draw: Draw, dataset: Dataset) -> None:
    expected = stack_batches(alone(draw, dataset))
    stacked = drawn(draw, dataset)
    assert stacked.vectorized
    found = stacked()
    assert type(found) is type(expected)
    for one, other in zip(tree_leaves(found), tree_leaves(expected), strict=True):
        assert one is other if other is None else torch.equal(one, other)


def test_a_curriculum_follows_the_steps_of_the_trainings() -> None:
    draw, dataset = PairDraw(k_schedule=Linear(1.0, 4.0, 3)), sprites(image_size=32)
    steps = torch.zeros(MODELS, dtype=torch.long)
    stacked = drawn(draw, dataset, steps)
    stacked()
    steps += 3
    assert stacked().k.eq(4).all()


def test_trainings_with_data_of_their_own_draw_one_by_one() -> None:
    dataset = stored()
    stacked = drawn(IIDDraw(), dataset, same_data=False)
    assert not stacked.vectorized
    assert_close(stacked().x, stack_batches(alone(IIDDraw(), dataset)).x)


@dataclass(frozen=True)
class OnHost:
    """A draw that reads a number on the host."""

    def check(self, dataset: Dataset) -> None:
        pass

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> Batch:
        row = int(torch.randint(len(dataset), (1,), generator=generator))
        return Batch(dataset.observe(torch.full((size,), row)))


def test_a_draw_that_needs_the_host_draws_one_by_one() -> None:
    dataset = stored()
    stacked = drawn(OnHost(), dataset)
    assert not stacked.vectorized
    assert torch.equal(stacked().x, stack_batches(alone(OnHost(), dataset)).x)
