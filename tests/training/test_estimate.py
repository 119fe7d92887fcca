"""Memory and time ahead, src/unbraid/training/estimate.py."""

from typing import Any

import pytest
import torch
from torch import nn

from tests.tiny import METHODS, Same, batch_for, make
from unbraid.data import Dataset, IIDDraw
from unbraid.methods import VAE, ClosedForm
from unbraid.methods.base import Method
from unbraid.training.estimate import estimate
from unbraid.training.step import TrainingStep


def test_an_estimate_counts_data_weights_moments_gradients_and_activations() -> None:
    method = make(VAE).float()
    dataset = Dataset(torch.zeros(1000, 1, 3, 3, dtype=torch.uint8), name="zeros")
    few = estimate(TrainingStep(method).dry_run_copy(), dataset, IIDDraw(), 8, 10)
    many = estimate(TrainingStep(method).dry_run_copy(), dataset, IIDDraw(), 800, 10)
    weights = sum(parameter.nbytes for parameter in method.parameters())
    assert few.bytes > 9_000 + 4 * weights  # data, weights, two moments, gradients
    assert many.bytes > few.bytes  # more activations
    assert few.seconds > 0
    assert "MiB of memory and" in str(few)


def test_time_grows_with_the_steps() -> None:
    method = make(VAE).float()
    dataset = Dataset(torch.zeros(100, 1, 3, 3, dtype=torch.uint8), name="zeros")
    short, long = (
        estimate(TrainingStep(method).dry_run_copy(), dataset, IIDDraw(), 8, steps).seconds
        for steps in (10, 100_000)
    )
    assert long > 10 * short


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
def test_an_estimate_leaves_no_graph_behind(cls: type[Method]) -> None:
    """A graph that stays holds its activations, and on a CUDA device the stream that it was made in, in which no step
    can be recorded."""
    if issubclass(cls, ClosedForm):
        pytest.skip("learns without gradients")
    game = TrainingStep(make(cls)).dry_run_copy()
    learned = [parameter for parameter in game.method.parameters() if parameter.requires_grad]
    marked = [_accumulator(parameter) for parameter in learned]  # every graph of a parameter has it
    for index in range(len(marked)):
        marked[index].metadata["kept"] = True
    estimate(game, Dataset(torch.zeros(8, 1, 3, 3), name="zeros"), Same(batch_for(cls)), 8, 1)
    del marked
    assert learned
    assert not any("kept" in _accumulator(parameter).metadata for parameter in learned)


def _accumulator(parameter: nn.Parameter) -> Any:
    """The node that sums the parameter's gradients, which lives as long as somebody holds it."""
    made_by = parameter.view_as(parameter).grad_fn
    assert made_by is not None
    return made_by.next_functions[0][0]
