"""The translator and its inner loop, src/unbraid/nn/translator.py."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.nn.translator import Translator
from unbraid.objectives import Bernoulli, Normal


def task(side: int = 8, size: int = 16) -> tuple[Tensor, Tensor]:
    """Pictures and their negatives."""
    torch.manual_seed(0)
    u = torch.rand(size, 1, side, side, dtype=torch.float64)
    return u, 1 - u


def meta(shape: tuple[int, ...], width: int = 2) -> Translator:
    with torch.device("meta"):
        return Translator(shape, width=width)


@pytest.mark.parametrize("shape", [(3, 64, 64), (1, 28, 28), (1, 3, 3), (7,)])
def test_what_comes_out_has_the_shape_of_what_goes_in(shape: tuple[int, ...]) -> None:
    assert Translator(shape, width=2)(torch.rand(2, *shape)).shape == (2, *shape)


def test_fresh_weights_are_drawn_as_pytorch_draws_its_own() -> None:
    translator, real = meta((1, 64, 64), 16), Translator((1, 64, 64), width=16)
    torch.manual_seed(0)
    weights = translator.fresh(torch.zeros(1))
    assert weights.keys() == dict(real.named_parameters()).keys()
    for name, parameter in real.named_parameters():
        assert weights[name].shape == parameter.shape
        if parameter.numel() > 100:
            assert_close(weights[name].std(), parameter.detach().std(), rtol=0.1, atol=0)
            assert_close(weights[name].abs().max(), parameter.detach().abs().max(), rtol=0.1, atol=0)
    assert not torch.equal(translator.fresh(torch.zeros(1))["layers.0.bias"], weights["layers.0.bias"])


def test_the_inner_loop_lowers_the_loss() -> None:
    u, v = task()
    translator = meta((1, 8, 8))
    weights = translator.fresh(u)
    learned = translator.learn(weights, u, v, Bernoulli().nll, steps=20, rate=0.5)
    before, after = (translator.loss(w, u, v, Bernoulli().nll) for w in (weights, learned))
    assert after < before - 0.1


def test_a_step_is_plain_descent_on_the_mean_over_pixels() -> None:
    u, v = task()
    translator = meta((1, 8, 8))
    weights = {name: part.requires_grad_() for name, part in translator.fresh(u).items()}
    loss = translator.loss(weights, u, v, Normal().nll) / 64
    gradients = torch.autograd.grad(loss, list(weights.values()))
    learned = translator.learn(weights, u, v, Normal().nll, steps=1, rate=0.3)
    for (name, weight), gradient in zip(weights.items(), gradients, strict=True):
        assert_close(learned[name], (weight - 0.3 * gradient).detach())


def test_only_an_unrolled_loop_has_a_way_back() -> None:
    u, v = task()
    u.requires_grad_()
    translator = meta((1, 8, 8))
    weights, nll = translator.fresh(u), Bernoulli().nll
    first = translator.learn(weights, u, v, nll, steps=2, rate=0.5)
    assert not any(part.requires_grad for part in first.values())
    unrolled = translator.learn(weights, u, v, nll, steps=2, rate=0.5, unrolled=True)
    assert_close(unrolled, first)
    (gradient,) = torch.autograd.grad(translator.loss(unrolled, u.detach(), v, nll), [u])
    assert gradient.any()


def test_a_width_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="a width of at least 1; got 0"):
        Translator((1, 8, 8), width=0)
