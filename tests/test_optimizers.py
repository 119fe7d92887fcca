"""One step of each optimizer by hand, src/unbraid/optimizers.py."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from unbraid.optimizers import SGD, Adam, Optimizer, RMSprop


def after(optimizer: Optimizer, *gradients: float) -> float:
    """A parameter that starts at 1, after one step per gradient."""
    parameter = nn.Parameter(torch.ones((), dtype=torch.float64))
    built = optimizer.build([parameter])
    for gradient in gradients:
        parameter.grad = torch.full((), gradient, dtype=torch.float64)
        built.step()
    return parameter.item()


def test_sgd() -> None:
    assert_close(after(SGD(0.1), 2.0), 1 - 0.2)
    assert_close(after(SGD(0.1, momentum=0.5), 2.0, 2.0), 1 - 0.2 - 0.3)
    assert_close(after(SGD(0.1, weight_decay=0.5), 2.0), 1 - 0.1 * (2 + 0.5))


def test_the_first_step_of_adam_is_the_learning_rate() -> None:
    assert_close(after(Adam(0.1, eps=0.0), 5.0), 0.9)
    assert_close(after(Adam(0.1, eps=0.0), -0.01), 1.1)


def test_adam_with_other_betas() -> None:
    """Second step, gradients 1 and 3: m = (β1(1-β1)·1 + (1-β1)·3)/(1-β1²), v likewise with squares."""
    b1, b2 = 0.5, 0.9
    m = (b1 * (1 - b1) + (1 - b1) * 3) / (1 - b1**2)
    v = (b2 * (1 - b2) + (1 - b2) * 9) / (1 - b2**2)
    assert_close(after(Adam(0.1, b1, b2, eps=0.0), 1.0, 3.0), 0.9 - 0.1 * m / v**0.5)


def test_decay_is_decoupled() -> None:
    """The weight shrinks by lr times weight_decay, whatever the gradient's scale."""
    assert_close(after(Adam(0.1, eps=0.0, weight_decay=0.5), 7.0), 1 - 0.1 * 0.5 - 0.1)


def test_rmsprop() -> None:
    assert_close(after(RMSprop(0.1, alpha=0.75, eps=0.0), 3.0), 1 - 0.1 / 0.25**0.5)


@pytest.mark.parametrize("optimizer", [Adam(3e-4, weight_decay=0.1), SGD(0.5), RMSprop()])
def test_specs_survive_text(optimizer: Optimizer) -> None:
    assert Optimizer.parse(str(optimizer)) == optimizer
