"""Observations to explore from, src/unbraid/explore/examples.py."""

from collections.abc import Callable

import numpy as np
import torch
from torch.testing import assert_close

from unbraid.explore.examples import PART, class_averages, examples_from_data, examples_from_prior
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset


def test_examples_come_with_codes_and_factors(run: Run) -> None:
    model, dataset = load(run.folder, device="cpu"), training_dataset(run)
    examples = examples_from_data(model, dataset, size=20)
    assert examples.x.shape == (20, 1, 32, 32) and examples.label == dataset.label
    assert_close(examples.codes, model.encode(examples.x))
    assert [factor.name for factor in examples.factors] == ["shape", "scale", "orientation", "pos_x", "pos_y"]
    assert all(factor.value_index.max() < len(factor.values) for factor in examples.factors)
    assert_close(examples_from_data(model, dataset, size=20).x, examples.x)


def test_target_and_background_stand_in_turn(runs: Callable[[str], Run]) -> None:
    run = runs("contrast")
    model, dataset = load(run.folder, device="cpu"), training_dataset(run)
    examples = examples_from_data(model, dataset, size=6)
    part = next(factor for factor in examples.factors if factor.name == PART)
    assert part.value_index.tolist() == [0, 0, 1, 0, 0, 1, 0, 0, 1]
    assert_close(examples.codes, model.encode(examples.x))
    others = [factor for factor in examples.factors if factor.name != PART]
    assert all((factor.value_index[part.value_index == 1] == -1).all() for factor in others)


def test_averages_are_those_of_the_strands(run: Run) -> None:
    model = load(run.folder, device="cpu")
    examples = examples_from_data(model, training_dataset(run), size=50)
    shape = examples.factors[0]
    groups = torch.as_tensor(shape.value_index)
    right = model.strands.average(examples.codes, "codes", groups)
    assert_close(torch.as_tensor(class_averages(examples, shape))[groups], right)


def test_a_value_that_no_example_has_gets_the_mean_of_all(run: Run) -> None:
    examples = examples_from_data(load(run.folder, device="cpu"), training_dataset(run), size=10)
    shape = examples.factors[0]._replace(value_index=np.zeros(10, dtype=int))
    averages = class_averages(examples, shape)
    assert np.allclose(averages[1], examples.codes.mean(0).numpy(), atol=1e-6)


def test_a_model_can_make_its_own(run: Run) -> None:
    model = load(run.folder, device="cpu")
    examples = examples_from_prior(model, size=5, seed=3)
    assert_close(examples.x, model.decode(examples.codes))
    assert examples.factors == () and examples.label is None
