"""Limits and slope of the β-VAE, and many of them at once, src/unbraid/methods/beta_vae.py."""

import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap
from torch.testing import assert_close

from tests.tiny import images, loss, make
from unbraid.methods.beta_vae import BetaVAE
from unbraid.methods.vae import VAE
from unbraid.types import Batch


def test_beta_one_is_the_vae() -> None:
    batch = Batch(images())
    assert_close(loss(make(BetaVAE, beta=1.0), batch).total, loss(make(VAE), batch).total)


def test_raising_beta_by_one_adds_one_divergence() -> None:
    batch = Batch(images())
    low, high = (loss(make(BetaVAE, beta=beta), batch) for beta in (4.0, 5.0))
    assert_close(high.total - low.total, low.by_name["kl"])


def test_beta_zero_leaves_the_reconstruction() -> None:
    terms = loss(make(BetaVAE, beta=0.0), Batch(images()))
    assert_close(terms.total, terms.by_name["nll"])


def test_many_models_at_once() -> None:
    """Under vmap each model has its own weights and noise; without noise it equals one model after another."""
    models = [make(BetaVAE, seed=seed) for seed in range(3)]
    for model in models:
        with torch.no_grad():
            model.encoder.heads.weight[4:] = 0.0  # type: ignore[index, union-attr]
            model.encoder.heads.bias[4:] = -200.0  # type: ignore[index, union-attr]
    x = images()
    parameters, buffers = stack_module_state(models)  # type: ignore[arg-type]

    def total(parameters: dict[str, Tensor], buffers: dict[str, Tensor]) -> Tensor:
        return functional_call(models[0], (parameters, buffers), (Batch(x),)).total

    totals = vmap(total, randomness="different")(parameters, buffers)
    assert_close(totals, torch.stack([model.loss(Batch(x)).total for model in models]))


def test_noise_differs_between_models_under_vmap() -> None:
    model, x = make(BetaVAE), images()
    parameters, buffers = stack_module_state([model, model])  # type: ignore[arg-type]

    def total(parameters: dict[str, Tensor], buffers: dict[str, Tensor]) -> Tensor:
        return functional_call(model, (parameters, buffers), (Batch(x),)).total

    first, second = vmap(total, randomness="different")(parameters, buffers)
    assert first != second
