"""What InfoGAN and InfoGAN-CR share, src/unbraid/methods/latent_gan.py."""

import math

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import images, make
from unbraid.methods import InfoGAN
from unbraid.types import Batch


def test_latents_are_uniform_between_minus_one_and_one() -> None:
    z = make(InfoGAN).sample_latents(images(2000))
    assert z.min() >= -1 and z.max() <= 1 and z.shape == (2000, 4)
    assert_close(z.var(0), torch.full((4,), 1 / 3, dtype=torch.float64), rtol=0.1, atol=0)


def test_the_code_is_the_guess_and_noise_is_zero() -> None:
    method = make(InfoGAN)
    codes = method.encode(images())
    assert_close(codes[:, :3], method.discriminator(images())[1])
    assert not codes[:, 3].any() and method.strands.default == "codes"
    assert dict(method.strands) == {"codes": (0, 1, 2), "noise": (3,)}


def test_the_error_of_a_guess_by_hand() -> None:
    """½ (1² + 2² + 0²) and ½ (0 + 0 + 3²), averaged: (2.5 + 4.5) / 2."""
    guess = torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    assert_close(make(InfoGAN).code_nll(guess, torch.zeros(2, 4)).item(), 3.5)


def test_a_discriminator_that_knows_nothing_costs_two_log_two() -> None:
    method = make(InfoGAN)
    with torch.no_grad():
        method.discriminator.real.bias.zero_()
        method.discriminator.real.weight.mul_(0)
    assert_close(method.discriminator_loss(Batch(images())).by_name["adversarial"].item(), 2 * math.log(2))
    assert_close(method.loss(Batch(images())).by_name["generator"].item(), math.log(2))


def test_both_sides_losses_by_hand() -> None:
    """Real is what was observed, Q learns from what was made, and the generator wants that to look real."""
    method, x = make(InfoGAN), images()
    torch.manual_seed(1)
    found = method.discriminator_loss(Batch(x))
    torch.manual_seed(1)
    made = method.loss(Batch(x)).by_name
    torch.manual_seed(1)
    z = method.sample_latents(x)
    (real, _), (fake, guess) = method.discriminator(x), method.discriminator(method.generate(z))
    assert (real.mean() - fake.mean()).abs() > 1e-3
    adversary = -(real.sigmoid().log().mean() + (1 - fake.sigmoid()).log().mean())
    assert_close(found.by_name["adversarial"], adversary)
    assert_close(found.by_name["information"], method.code_nll(guess, z))
    assert_close(made["generator"], -fake.sigmoid().log().mean())
    assert_close(made["information"], method.code_nll(guess, z))


def test_no_gradient_of_the_discriminator_s_loss_reaches_the_generator() -> None:
    method = make(InfoGAN)
    method.discriminator_loss(Batch(images())).total.backward()
    assert all(parameter.grad is None for parameter in method.generator.parameters())
    assert any(parameter.grad is not None for parameter in method.discriminator.parameters())


def test_sizes_are_checked() -> None:
    with pytest.raises(ValueError, match=r"code_dim must be at least 2.*got code_dim=1"):
        make(InfoGAN, code_dim=1)
    assert dict(make(InfoGAN, noise_dim=0).strands) == {"codes": (0, 1, 2)}
