"""The translator and its inner loop, src/unbraid/objectives/translation.py."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.sprite_translations import translation
from unbraid.methods import Intervention
from unbraid.objectives import (
    Bernoulli,
    Likelihood,
    MLPTranslator,
    MLPTranslatorSGD,
    Normal,
    Pixels,
    PlainTranslator,
    Translator,
    TranslatorSpec,
    two_rows,
)
from unbraid.objectives.translation import _averaging


def task(side: int = 8, size: int = 16) -> tuple[Tensor, Tensor]:
    """Pictures and their negatives."""
    torch.manual_seed(0)
    u = torch.rand(size, 1, side, side, dtype=torch.float64)
    return u, 1 - u


@pytest.mark.parametrize(
    ("shape", "small"),
    [
        ((3, 64, 64), (3, 16, 16)),
        ((1, 28, 28), (1, 14, 14)),
        ((1, 48, 32), (1, 12, 8)),
        ((1, 3, 3), (1, 3, 3)),
        ((1, 20, 27), (1, 16, 16)),  # nothing divides both
        ((3, 31, 31), (3, 16, 16)),  # nor this, but 31
        ((1, 6, 40), (1, 6, 16)),
        ((7,), (7,)),
    ],
)
def test_images_are_shrunk_to_sixteen_pixels_a_side(shape: tuple[int, ...], small: tuple[int, ...]) -> None:
    translator, u = Translator(shape), torch.rand(2, *shape)
    assert translator.shape == small
    u = translator.downsample(u)
    assert translator.translate(translator.init_weights(u), u).shape == u.shape == (2, *small)


def test_a_pixel_on_an_edge_belongs_to_both_sides_in_part() -> None:
    """Three pixels to two: the middle one is shared, and the mean stays."""
    averaging = _averaging(3, 2, torch.zeros(1))
    assert_close(averaging, torch.tensor([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]]) / 3)
    translator, u = Translator((1, 20, 27)), torch.rand(2, 1, 20, 27)
    assert_close(translator.downsample(u).mean((1, 2, 3)), u.mean((1, 2, 3)))
    assert_close(translator.pixel_weight, 20 * 27 / 256)


def test_fresh_weights_are_drawn_as_pytorch_draws_its_own() -> None:
    translator, first, last = (
        Translator((1, 16, 16), MLPTranslator(width=20)),
        torch.nn.Linear(256, 20),
        torch.nn.Linear(20, 256),
    )
    torch.manual_seed(0)
    weights = translator.init_weights(torch.rand(3, 1, 16, 16))
    counts = [first.weight.numel(), 20, last.weight.numel(), 256, 1]
    for own, layer in zip(weights.split(counts)[:3:2], (first, last), strict=True):
        assert_close(own.std(), layer.weight.detach().std(), rtol=0.05, atol=0)
        assert_close(own.abs().max(), layer.weight.detach().abs().max(), rtol=0.05, atol=0)
    assert not torch.equal(translator.init_weights(torch.rand(3, 1, 16, 16))[:10], weights[:10])


def test_a_fresh_translator_gives_the_mean_target_and_half_of_the_input() -> None:
    """Without what its layers add: the logit of the mean target, and half of that of the input."""
    translator, (u, v) = Translator((1, 8, 8), MLPTranslator(width=1)), task()
    weights = translator.init_weights(v)
    weights[: 2 * 64 + 1] = 0
    expected = torch.logit(v.mean(0), 0.02) + torch.logit(u, 0.02) / 2
    assert_close(translator.translate(weights, u), expected)


def test_the_inner_loop_lowers_the_loss() -> None:
    u, v = task()
    for spec in (MLPTranslator(8, 20, 0.05), MLPTranslatorSGD(8, 20, 0.5)):
        translator = Translator((1, 8, 8), spec)
        torch.manual_seed(1)
        before = translator.loss(translator.init_weights(v), u, v)
        torch.manual_seed(1)
        after = translator.loss(translator.adapt(u, v), u, v)
        assert after < before - 1


def test_a_plain_step_is_descent_on_the_mean_over_pixels_and_adam_s_is_pytorch_s() -> None:
    u, v = task()
    translator = Translator((1, 8, 8), MLPTranslatorSGD(2, 1, 0.3), likelihood=Normal())
    torch.manual_seed(1)
    weights = translator.init_weights(v).requires_grad_()
    (gradient,) = torch.autograd.grad(translator.loss(weights, u, v) / 64, [weights])
    torch.manual_seed(1)
    plain = translator.adapt(u, v)
    assert_close(plain, (weights - 0.3 * gradient).detach())
    optimizer = torch.optim.Adam([weights], lr=0.05, eps=1e-12)
    for _ in range(3):
        optimizer.zero_grad()
        (translator.loss(weights, u, v) / 64).backward()
        optimizer.step()
    torch.manual_seed(1)
    adam = Translator((1, 8, 8), MLPTranslator(2, 3, 0.05), likelihood=Normal())
    assert_close(adam.adapt(u, v), weights.detach())


@pytest.mark.parametrize("spec", [MLPTranslator(width=5), PlainTranslator(width=5)], ids=str)
@pytest.mark.parametrize("likelihood", [Bernoulli(), Normal(0.5), Pixels()], ids=str)
def test_the_gradient_that_is_written_out_is_that_of_the_loss(
    likelihood: Likelihood, spec: TranslatorSpec
) -> None:
    u, v = task()
    translator = Translator((1, 8, 8), spec, likelihood=likelihood)
    weights = translator.init_weights(v).requires_grad_()
    (gradient,) = torch.autograd.grad(translator.loss(weights, u, v), [weights])
    assert_close(translator.gradient(weights.detach(), u, v), gradient)


def plain_by_autograd(spec: PlainTranslator, u: Tensor, v: Tensor, u_test: Tensor, v_test: Tensor) -> Tensor:
    """Algorithm 1 as it is printed, with PyTorch's own layers, cross-entropy and derivatives."""
    fresh = Translator(tuple(u.shape[1:]), spec).init_weights(v)
    pixels = u[0].numel()
    layers = torch.nn.Sequential(torch.nn.Linear(pixels, spec.width), torch.nn.ReLU())
    layers = layers.append(torch.nn.Linear(spec.width, pixels)).append(torch.nn.Sigmoid()).double()
    sizes = [parameter.numel() for parameter in layers.parameters()]
    named = zip(layers.named_parameters(), fresh.split(sizes), strict=True)
    theta = {name: part.view_as(parameter) for (name, parameter), part in named}

    def cross_entropy(theta: dict[str, Tensor], u: Tensor, v: Tensor) -> Tensor:
        m = torch.func.functional_call(layers, theta, (u.flatten(1),))
        v = v.flatten(1)
        return -(v * m.log() + (1 - v) * (1 - m).log()).sum(1).mean()

    for parameter in theta.values():
        parameter.requires_grad_()
    for _ in range(spec.steps):
        gradients = torch.autograd.grad(cross_entropy(theta, u, v), [*theta.values()], create_graph=True)
        theta = {
            name: weight - spec.lr * gradient
            for (name, weight), gradient in zip(theta.items(), gradients, strict=True)
        }
    return cross_entropy(theta, u_test, v_test)


def test_the_plain_translator_is_algorithm_1_as_printed_and_so_is_its_gradient() -> None:
    """Through every step, to the sources and targets of training and of the test."""
    spec, found = PlainTranslator(width=5, steps=4, lr=0.02), []
    translator = Translator((1, 6, 6), spec)
    assert translator.shape == (1, 6, 6) and Translator((1, 64, 64), PlainTranslator()).shape == (1, 64, 64)
    printed = partial(translator.difficulty, subtract_entropy=False, unrolled=True)
    for difficulty in (printed, partial(plain_by_autograd, spec)):
        torch.manual_seed(3)
        pictures = [torch.rand(7, 1, 6, 6, dtype=torch.float64, requires_grad=True) for _ in range(4)]
        loss = difficulty(*pictures)
        found.append([loss, *torch.autograd.grad(loss, pictures)])
    assert_close(found[0], found[1])
    assert all(gradient.abs().max() > 1e-6 for gradient in found[0])


def test_a_plain_translator_starts_without_the_targets() -> None:
    """As PyTorch draws it, whatever the targets; with neither a shortcut nor their mean."""
    translator, (u, v) = Translator((1, 8, 8), PlainTranslator(width=3)), task()
    drawn = []
    for targets in (u, v):
        torch.manual_seed(1)
        drawn.append(translator.init_weights(targets))
    assert_close(*drawn)
    assert len(drawn[0]) == 3 * 64 + 3 + 64 * 3 + 64
    assert drawn[0][-64:].abs().max() <= 3**-0.5


def test_a_translator_learns_where_no_graph_can_be_built() -> None:
    """As within a loss that is compiled."""
    u, v = task()
    translator, learned = Translator((1, 8, 8), MLPTranslator(2, 2)), []
    for mode in (torch.enable_grad, torch.inference_mode):
        torch.manual_seed(1)
        with mode():
            learned.append(translator.adapt(u, v).clone())
    assert_close(learned[0], learned[1])


def test_only_an_unrolled_loop_has_a_way_back() -> None:
    u, v = task()
    u.requires_grad_()
    translator, test = Translator((1, 8, 8), MLPTranslator(2, 2)), task()
    gradients = []
    for unrolled in (False, True):
        torch.manual_seed(1)
        loss = translator.difficulty(u, v, *test, unrolled=unrolled)
        assert loss.requires_grad == unrolled
        gradients.append(loss)
    assert_close(gradients[0], gradients[1].detach())
    (gradient,) = torch.autograd.grad(gradients[1], [u])
    assert gradient.any() and gradient.isfinite().all()


def test_the_entropy_of_the_targets_is_no_difficulty() -> None:
    """Of targets that are translated exactly nothing is left, and no gradient; of Eq. 2 both are.

    One gray image g everywhere: a fresh translator whose layers and input count for nothing gives its mean. Eq. 2 is
    then the entropy of g, and its gradient -logit(g).
    """
    translator = Translator((1, 2, 2), MLPTranslator(width=1))
    g = torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
    v = g.expand(3, 1, 2, 2)
    weights = translator.init_weights(v.detach())
    weights[:9], weights[-1] = 0, 0
    loss = translator.loss(weights, v, v)
    assert_close(loss.item(), -4 * (0.8 * math.log(0.8) + 0.2 * math.log(0.2)))
    (gradient,) = torch.autograd.grad(loss, [g], retain_graph=True)
    assert_close(gradient.item(), -4 * math.log(4))
    left = loss - translator.entropy(v)
    assert_close(left.item(), 0.0)
    assert_close(torch.autograd.grad(left, [g])[0].item(), 0.0)


def test_each_pixel_left_counts_for_those_it_pixel_weight() -> None:
    """Of images that are the same within squares of two by two, as many nats as without shrinking."""
    u, v = (images.repeat_interleave(2, 2).repeat_interleave(2, 3) for images in task(4))
    small, whole = (Translator((1, 8, 8), MLPTranslator(32, 60, 0.02, by)) for by in (2, 1))
    assert_close(small.mean_difficulty(v, u), whole.mean_difficulty(v, u))
    found = [one.difficulty(u, v, u, v) for one in (small, whole)]
    assert_close(found[0], found[1], rtol=0.5, atol=0)


def of_sprites(kind: str, *, pairs: int = 4) -> tuple[float, float]:
    """What is missed of sprites at the default settings of the method, and what their mean image misses."""
    translator, found = Translator((1, 64, 64), Intervention.option({}, "translator")), []
    for seed in range(pairs):
        u, v, u_test, v_test = translation(kind, seed=seed)
        torch.manual_seed(seed)
        learned = translator.difficulty(u, v, u_test, v_test)
        found.append(torch.stack([learned, translator.mean_difficulty(v, v_test)]))
    learned, mean = torch.stack(found).mean(0).tolist()
    return learned, mean


def test_sprites_come_in_order_at_the_default_settings() -> None:
    """What one factor decides is translated far better than by the mean image, what two mixed ones decide worse, and
    unrelated images not at all; what changes nothing is the easiest."""
    (same, _), (mixed, _), (unrelated, none) = map(of_sprites, ("same", "pos_x*scale", "unrelated"))
    for factor in ("pos_x", "pos_y", "scale", "shape", "orientation"):
        learned, mean = of_sprites(factor)
        assert same < learned < 0.5 * mean, factor
        assert learned < 0.7 * mixed, factor
    assert mixed < 0.7 * unrelated and unrelated > 0.9 * none


def test_what_was_learned_depends_on_the_input() -> None:
    """Held-out images translated from one another's inputs are missed by far more."""
    u, v, u_test, v_test = translation("pos_x", seed=0)
    translator = Translator((1, 64, 64))
    found = []
    for inputs in (u_test, u_test.roll(1, 0)):
        torch.manual_seed(0)
        found.append(translator.difficulty(u, v, inputs, v_test).item())
    assert found[0] < 0.5 * found[1]


def test_a_translation_is_between_the_values_of_two_different_images() -> None:
    """Definition 1. Two rows only: were they drawn apart, every second pair would be one row twice."""
    both = torch.randn(2, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for _ in range(20):
        a, b = two_rows(both)
        assert {tuple(a[0].tolist()), tuple(b[0].tolist())} == set(map(tuple, both.tolist()))
    assert_close(two_rows(both[:1]), (both[:1], both[:1]))


def test_a_factor_that_does_not_divide_the_sides_is_refused() -> None:
    with pytest.raises(ValueError, match="must divide the height and width of images; got 3 for"):
        Translator((1, 8, 8), MLPTranslator(downsample=3))
    with pytest.raises(ValueError, match="got 2 for"):
        Translator((4,), MLPTranslator(downsample=2), likelihood=Bernoulli())


def test_plain_descent_at_its_default_settings_only_finds_unrelated_images_harder() -> None:
    """Sprites, without subtracting the entropy; five steps of a tenth of the rate tell nothing apart."""

    def mean(kind: str, spec: PlainTranslator) -> float:
        translator, found = Translator((1, 64, 64), spec), []
        for seed in range(3):
            pictures = translation(kind, seed=seed)
            torch.manual_seed(seed)
            found.append(translator.difficulty(*pictures, subtract_entropy=False).item())
        return sum(found) / len(found)

    related, unrelated = mean("pos_x*scale", PlainTranslator()), mean("unrelated", PlainTranslator())
    assert related < 0.8 * unrelated
    few = PlainTranslator(steps=5, lr=0.001)
    assert abs(mean("pos_x*scale", few) / mean("unrelated", few) - 1) < 0.01
