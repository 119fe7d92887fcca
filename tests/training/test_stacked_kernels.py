"""Stacked models on the convolutions of `unbraid.nn.conv_ops`: on a GPU, or in Triton's interpreter."""

from typing import Any

import pytest
import torch
from torch import Generator
from torch.testing import assert_close

from tests.triton_device import DEVICE, INTERPRETED, require_kernels

require_kernels()

from unbraid.methods import BetaVAE  # noqa: E402
from unbraid.methods.base import build_method  # noqa: E402
from unbraid.nn import conv_launch, conv_ops  # noqa: E402
from unbraid.training.stacked_step import StackedStep, stack_batches  # noqa: E402
from unbraid.training.step import TrainingStep  # noqa: E402
from unbraid.types import Batch  # noqa: E402

MODELS, SHAPE = 2, (1, 32, 32)
# Adam's first step has the size of the learning rate, 1e-4, whatever the gradient; on a GPU products are in TF32.
TOLERANCE: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-5} if INTERPRETED else {"rtol": 0.02, "atol": 3e-4}


@pytest.fixture(autouse=True)
def enabled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conv_ops, "enabled", True)


def kinds() -> list[TrainingStep]:
    built = [build_method(BetaVAE, SHAPE, n=8, latent_dim=4, seed=seed) for seed in range(MODELS)]
    return [TrainingStep(method.to(DEVICE)) for method in built]


def test_a_layer_of_all_models_is_one_launch_with_the_results_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    images = [torch.rand(1, *SHAPE, generator=Generator().manual_seed(seed)) for seed in range(MODELS)]
    batches = [Batch(x.to(DEVICE)) for x in images]
    launches = {"down": 0, "up": 0, "weight_gradient": 0}
    for name in launches:
        launch = getattr(conv_launch, name)

        def counted(*arguments: Any, name: str = name, launch: Any = launch) -> Any:
            launches[name] += 1
            return launch(*arguments)

        monkeypatch.setattr(conv_launch, name, counted)
    own, members = kinds(), kinds()
    for number, step in enumerate(own):
        torch.manual_seed(number)
        step.run(lambda n=number: batches[n], 0)
    alone = dict(launches)
    noise = [Generator(DEVICE).manual_seed(number) for number in range(MODELS)]
    stacked = StackedStep(members, noise)
    stacked.run(lambda: stack_batches(batches), 0)
    assert {name: count - alone[name] for name, count in launches.items()} == {
        name: count // MODELS for name, count in alone.items()
    }
    assert all(count > 0 for count in alone.values())
    for one, other in zip(members, own, strict=True):
        assert_close(one.state(), other.state(), **TOLERANCE)
    weights = [tensor for tensor in stacked.parameters.values() if tensor.dim() == 5]
    assert all(weight[0].is_contiguous(memory_format=torch.channels_last) for weight in weights)
