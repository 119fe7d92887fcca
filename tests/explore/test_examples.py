"""Observations to explore from, src/unbraid/explore/examples.py."""

from collections.abc import Callable

import numpy as np
import torch
from torch.testing import assert_close

from unbraid.explore.examples import PART, class_averages, drawn, made
from unbraid.model import load
from unbraid.reopen import dataset_of
from unbraid.runs import Run


def test_examples_come_with_codes_and_factors(run: Run) -> None:
    model, dataset = load(run.folder, device="cpu"), dataset_of(run)
    examples = drawn(model, dataset, size=20)
    assert examples.x.shape == (20, 1, 32, 32) and examples.label == dataset.label
    assert_close(examples.codes, model.encode(examples.x))
    assert [factor.name for factor in examples.factors] == ["shape", "scale", "orientation", "pos_x", "pos_y"]
    assert all(factor.of.max() < len(factor.values) for factor in examples.factors)
    assert_close(drawn(model, dataset, size=20).x, examples.x)


def test_target_and_background_stand_in_turn(runs: Callable[[str], Run]) -> None:
    run = runs("contrast")
    model, dataset = load(run.folder, device="cpu"), dataset_of(run)
    examples = drawn(model, dataset, size=6)
    part = next(factor for factor in examples.factors if factor.name == PART)
    assert part.of.tolist() == [0, 0, 1, 0, 0, 1, 0, 0, 1]
    assert_close(examples.codes, model.encode(examples.x))
    others = [factor for factor in examples.factors if factor.name != PART]
    assert all((factor.of[part.of == 1] == -1).all() for factor in others)


def test_averages_are_those_of_the_strands(run: Run) -> None:
    model = load(run.folder, device="cpu")
    examples = drawn(model, dataset_of(run), size=50)
    shape = examples.factors[0]
    groups = torch.as_tensor(shape.of)
    right = model.strands.average(examples.codes, "codes", groups)
    assert_close(torch.as_tensor(class_averages(examples, shape))[groups], right)


def test_a_value_that_no_example_has_gets_the_mean_of_all(run: Run) -> None:
    examples = drawn(load(run.folder, device="cpu"), dataset_of(run), size=10)
    shape = examples.factors[0]._replace(of=np.zeros(10, dtype=int))
    averages = class_averages(examples, shape)
    assert np.allclose(averages[1], examples.codes.mean(0).numpy(), atol=1e-6)


def test_a_model_can_make_its_own(run: Run) -> None:
    model = load(run.folder, device="cpu")
    examples = made(model, size=5, seed=3)
    assert_close(examples.x, model.decode(examples.codes))
    assert examples.factors == () and examples.label is None
