"""D by hand, its scale and its gradients, src/unbraid/objectives/reconstruction_distance.py."""

import math

import pytest
import torch
from torch.testing import assert_close

from unbraid.objectives import (
    Bernoulli,
    Normal,
    Pixels,
    bernoulli_nll,
    reconstruction_distance,
    require_distance,
)
from unbraid.types import Observations


@pytest.fixture
def decoded() -> tuple[Observations, Observations]:
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(3, 1, 4, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    return a.requires_grad_(), b.requires_grad_()


@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_an_error_costs_what_it_costs_in_the_reconstruction(
    sigma: float, decoded: tuple[Observations, Observations]
) -> None:
    """-log p(m|ẑ) less its minimum is D between ẑ's image and m, whatever σ is."""
    a, b = decoded
    likelihood = Normal(sigma)
    d = reconstruction_distance(likelihood, a, b)
    assert_close(d, likelihood.nll(a, b) - likelihood.nll(b, b))


def test_distances_by_hand() -> None:
    """σ(log 3) = ¾ and σ(0) = ½: the square is 1/16; the cross-entropy of ¾ under ½ is log 2, less the entropy of ¾."""
    a, b = torch.zeros(1, 1, dtype=torch.float64), torch.full((1, 1), math.log(3), dtype=torch.float64)
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert_close(reconstruction_distance(Bernoulli(), a, b).item(), 1 / 16)
    assert_close(reconstruction_distance(Bernoulli(), a, b, "bce").item(), math.log(2) - entropy)
    assert_close(reconstruction_distance(Pixels(0.5), a, b).item(), 2 / 16)
    assert_close(reconstruction_distance(Pixels(0.5), a, b, "bce").item(), 2 * (math.log(2) - entropy))
    assert_close(
        reconstruction_distance(Normal(0.5), a, b).item(), 2 * math.log(3) ** 2, atol=1e-6, rtol=1e-6
    )


def test_gradients(decoded: tuple[Observations, Observations]) -> None:
    """Both images have one with mse; with bce the target has none, and the other's is that of the likelihood."""
    a, b = decoded
    first, second = torch.autograd.grad(reconstruction_distance(Bernoulli(), a, b), [a, b])
    assert first.any() and second.any()
    distance = reconstruction_distance(Bernoulli(), a, b, "bce")
    first, second = torch.autograd.grad(distance, [a, b], allow_unused=True)
    [expected] = torch.autograd.grad(bernoulli_nll(a, b.detach().sigmoid()), [a])
    assert_close(first, expected)
    assert second is None


@pytest.mark.parametrize("distance", ["mse", "bce"])
@pytest.mark.parametrize("likelihood", [Bernoulli(), Pixels(0.2)])
def test_equal_images_have_no_distance(
    distance: str, likelihood: Bernoulli | Pixels, decoded: tuple[Observations, Observations]
) -> None:
    a, _ = decoded
    assert_close(reconstruction_distance(likelihood, a, a, distance).item(), 0.0)  # type: ignore[arg-type]
    require_distance(likelihood, distance)


def test_mistakes_get_one_sentence() -> None:
    with pytest.raises(ValueError, match="distance must be one of mse, bce; got 'l1'"):
        require_distance(Bernoulli(), "l1")
    with pytest.raises(ValueError, match="requires decoded pixels between 0 and 1; the likelihood normal"):
        require_distance(Normal(0.1), "bce")
