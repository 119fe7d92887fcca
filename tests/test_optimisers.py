"""One step of each rule by hand, src/unbraid/optimisers.py."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from unbraid.optimisers import SGD, Adam, Optimiser, RMSprop


def after(optimiser: Optimiser, *gradients: float) -> float:
    """Where a parameter that starts at 1 is after steps with the given gradients."""
    parameter = nn.Parameter(torch.ones((), dtype=torch.float64))
    rule = optimiser.make([parameter])
    for gradient in gradients:
        parameter.grad = torch.full((), gradient, dtype=torch.float64)
        rule.step()
    return parameter.item()


def test_sgd() -> None:
    assert_close(after(SGD(0.1), 2.0), 1 - 0.2)
    assert_close(after(SGD(0.1, momentum=0.5), 2.0, 2.0), 1 - 0.2 - 0.3)
    assert_close(after(SGD(0.1, decay=0.5), 2.0), 1 - 0.1 * (2 + 0.5))


def test_adam_moves_by_its_rate_at_first() -> None:
    assert_close(after(Adam(0.1, eps=0.0), 5.0), 0.9)
    assert_close(after(Adam(0.1, eps=0.0), -0.01), 1.1)


def test_adam_with_its_own_betas() -> None:
    """Second step, gradients 1 and 3: m = (β1(1-β1)·1 + (1-β1)·3)/(1-β1²), v likewise with squares."""
    b1, b2 = 0.5, 0.9
    m = (b1 * (1 - b1) + (1 - b1) * 3) / (1 - b1**2)
    v = (b2 * (1 - b2) + (1 - b2) * 9) / (1 - b2**2)
    assert_close(after(Adam(0.1, b1, b2, eps=0.0), 1.0, 3.0), 0.9 - 0.1 * m / v**0.5)


def test_decay_is_decoupled() -> None:
    """The weight shrinks by rate times decay, whatever the gradient's scale."""
    assert_close(after(Adam(0.1, eps=0.0, decay=0.5), 7.0), 1 - 0.1 * 0.5 - 0.1)


def test_rmsprop() -> None:
    assert_close(after(RMSprop(0.1, smoothing=0.75, eps=0.0), 3.0), 1 - 0.1 / 0.25**0.5)


@pytest.mark.parametrize("optimiser", [Adam(3e-4, decay=0.1), SGD(0.5), RMSprop()])
def test_written_and_read(optimiser: Optimiser) -> None:
    assert Optimiser.parse(str(optimiser)) == optimiser
