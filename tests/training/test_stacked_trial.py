"""Trials of stacks, src/unbraid/training/stacked_trial.py."""

import pytest
import torch
from torch import Generator, Tensor

from tests.tiny import Same, batch_for, make, normalized
from unbraid.data import Dataset
from unbraid.methods import BetaVAE, FactorVAE
from unbraid.methods.base import Method
from unbraid.training.stacked_draw import StackedDraw
from unbraid.training.stacked_player import NotStackableError
from unbraid.training.stacked_step import StackedStep
from unbraid.training.stacked_trial import require_equal_losses
from unbraid.training.step import TrainingStep
from unbraid.training.streams import OwnStream
from unbraid.types import Batch, Terms

MODELS = 2


def stack(methods: list[Method], batch: Batch) -> tuple[StackedStep, StackedDraw, list[OwnStream]]:
    streams = [OwnStream(torch.device("cpu")) for _ in methods]
    step = StackedStep([TrainingStep(method) for method in methods], [own.noise for own in streams])
    data = Dataset(torch.zeros(4, 1, 3, 3), name="zeros")
    generators = [Generator().manual_seed(number) for number in range(MODELS)]
    counters = step.buffers["step"]
    draw = StackedDraw([Same(batch)] * MODELS, [data] * MODELS, 4, generators, counters, same_data=True)
    return step, draw, streams


def everything(step: StackedStep, draw: StackedDraw) -> list[Tensor]:
    tensors = [*step.parameters.values(), *step.buffers.values()]
    states = [generator.get_state() for generator in (*draw.generators, *step.noise)]
    return [tensor.detach().clone() for tensor in (*tensors, *states)]


def test_equal_losses_pass_and_nothing_has_changed() -> None:
    step, draw, streams = stack([make(FactorVAE, seed=seed) for seed in range(MODELS)], batch_for(FactorVAE))
    before = everything(step, draw)
    require_equal_losses(step, draw, streams)
    assert all(torch.equal(a, b) for a, b in zip(everything(step, draw), before, strict=True))


def test_running_statistics_stay_those_of_before() -> None:
    batch = Batch(torch.rand(4, 1, 28, 28))
    step, draw, streams = stack([normalized(BetaVAE) for _ in range(MODELS)], batch)
    before = everything(step, draw)
    require_equal_losses(step, draw, streams)
    assert all(torch.equal(a, b) for a, b in zip(everything(step, draw), before, strict=True))
    step.run(draw, 0)
    tracked = [buffer for name, buffer in step.buffers.items() if name.endswith("num_batches_tracked")]
    assert tracked and all(buffer.tolist() == [1, 1] for buffer in tracked)


def test_what_differs_between_models_outside_their_weights_is_noticed() -> None:
    methods = [make(BetaVAE, beta=beta) for beta in (1.0, 8.0)]  # and `varying` does not say so
    with pytest.raises(NotStackableError, match="the terms of model differ"):
        require_equal_losses(*stack(methods, batch_for(BetaVAE)))


def test_a_loss_that_reads_a_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = BetaVAE.loss

    def loss(self: BetaVAE, batch: Batch) -> Terms:
        terms = whole(self, batch)
        assert float(terms.total.detach()) > 0
        return terms

    monkeypatch.setattr(BetaVAE, "loss", loss)
    methods = [make(BetaVAE, seed=seed) for seed in range(MODELS)]
    with pytest.raises(RuntimeError, match="item"):
        require_equal_losses(*stack(methods, batch_for(BetaVAE)))
