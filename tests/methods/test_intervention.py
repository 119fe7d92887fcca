"""The intervention autoencoder of the paper, src/unbraid/methods/intervention.py."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.tiny import batch_for, batches_remembered, images, larger_images, make, normalized
from unbraid.data import Dataset
from unbraid.methods import Intervention
from unbraid.methods.base import build_method
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.objectives import Bernoulli, MLPTranslator, PlainTranslator, two_rows
from unbraid.training.train import train
from unbraid.types import Batch


def test_the_total_is_that_of_eq_3() -> None:
    method, batch, other = make(Intervention), batch_for(Intervention), batch_for(Intervention, seed=5)
    names = "cycle", "adversarial", "translation"
    for first, weights in ((1.0, (0.25, 10.0, 1.0)), (1.0, (0.0, 3.0, 2.0)), (0.0, (4.0, 0.0, 0.0))):
        method.reconstruction, method.lambda_cycle, method.lambda_adv, method.lambda_translation = (
            bool(first),
            *weights,
        )
        torch.manual_seed(2)
        total, parts, _ = method.loss(batch, other)
        counted = {name: weight for name, weight in zip(names, weights, strict=True) if weight}
        assert parts.keys() == {"nll", *counted, "active"}
        terms = (weight * parts[name] for name, weight in counted.items())
        assert_close(total, sum(terms, start=first * parts["nll"]))


def test_a_removed_term_has_no_player() -> None:
    names = "autoencoder", "discriminator", "weights"
    left_out: tuple[tuple[dict[str, Any], int], ...] = (
        ({"lambda_adv": 0.0}, 1),
        ({"importance_weights": False}, 2),
        ({"lambda_cycle": 0.0}, 3),
    )
    for setting, players in left_out:
        found = tuple(player.name for player in make(Intervention, **setting).players())
        assert found == names[:players]


def test_without_importance_weights_all_weights_are_one_and_have_no_player() -> None:
    method = make(Intervention, importance_weights=False)
    assert_close(method.log_weights(images()), torch.zeros(8, dtype=torch.float64))
    assert [player.name for player in method.players()] == ["autoencoder", "discriminator"]


def test_the_translator_learns_within_the_loss() -> None:
    """More steps of the inner loop leave less difficulty on average."""
    few, many = (make(Intervention, translator=MLPTranslator(width=16, steps=steps)) for steps in (1, 40))
    z, z_test = (few.encode(images(32, seed=seed)) for seed in (1, 2))

    def mean(method: Intervention) -> float:
        torch.manual_seed(0)
        return torch.stack([method.difficulty(z, z_test) for _ in range(8)]).mean().item()

    assert mean(many) < 0.5 * mean(few)


def test_the_printed_difficulty_is_algorithm_1_with_gradients_through_the_steps() -> None:
    """Algorithm 1 in a slow form, with PyTorch's own layers and derivatives: its value, and its gradient to encoder and
    decoder, which passes through every step of the translator."""
    spec = PlainTranslator(width=2, steps=3, lr=0.05)
    method = make(Intervention, translator=spec, subtract_entropy=False, unrolled=True)
    networks = [*method.encoder.parameters(), *method.decoder.parameters()]

    def by_autograd(z: Tensor, z_test: Tensor) -> Tensor:
        a, b = two_rows(z)
        chosen = method.pick_feature(torch.rand(1, 4)).expand(8, -1)
        u, v, u_test, v_test = (
            method.decode(torch.where(chosen, value.expand_as(codes), codes)).flatten(1)
            for codes in (z, z_test)
            for value in (a, b)
        )
        first, shift, last, start = method._translator.init_weights(v).split([18, 2, 18, 9])
        theta = [first.view(2, 9), shift, last.view(9, 2), start]

        def cross_entropy(u: Tensor, v: Tensor) -> Tensor:
            m = ((u @ theta[0].T + theta[1]).relu() @ theta[2].T + theta[3]).sigmoid()
            return nn.functional.binary_cross_entropy(m, v, reduction="sum") / 8

        for parameter in theta:
            parameter.requires_grad_()
        for _ in range(3):
            gradients = torch.autograd.grad(cross_entropy(u, v), theta, create_graph=True)
            theta = [
                parameter - 0.05 * gradient for parameter, gradient in zip(theta, gradients, strict=True)
            ]
        return cross_entropy(u_test, v_test)

    found = []
    for difficulty in (method.difficulty, by_autograd):
        torch.manual_seed(0)
        loss = difficulty(method.encode(images(8, seed=1)), method.encode(images(8, seed=2)))
        found.append([loss, *torch.autograd.grad(loss, networks)])
    assert_close(found[0], found[1])


def test_the_downsampling_factor_must_divide_the_sides() -> None:
    with pytest.raises(
        ValueError, match=r"must divide the height and width of images; got 3 for \(1, 8, 8\)"
    ):
        build_method(
            Intervention,
            (1, 8, 8),
            n=10,
            translator=MLPTranslator(downsample=3),
            architecture="mlp-small",
        )


@pytest.mark.parametrize("unrolled", [False, True])
def test_the_loop_trains_all_three_networks(unrolled: bool, tmp_path: Path) -> None:
    """With the translator inside the step, whose memory the loop measures first."""
    dataset = Dataset(torch.randint(0, 256, (40, 1, 3, 3), dtype=torch.uint8), name="noise")
    method = make(Intervention, unrolled=unrolled).float()
    before = [parameter.clone() for parameter in method.parameters()]
    train(method, dataset, out=tmp_path / "run", steps=2, batch_size=8, device="cpu", quiet=True)
    changed = [not torch.equal(*pair) for pair in zip(before, method.parameters(), strict=True)]
    assert all(changed)


def test_networks_are_those_of_the_papers_tables() -> None:
    method = build_method(Intervention, (1, 64, 64), n=1, architecture="conv-factor-vae")
    sizes = {name: sum(p.numel() for p in part.parameters()) for name, part in method.named_children()}
    trunk = (16 * 32 + 32) + (32 * 16 * 32 + 32) + (32 * 16 * 64 + 64) + (64 * 16 * 64 + 64) + 1025 * 128
    assert sizes["encoder"] == trunk + 129 * 10  # Table 4: the mean alone
    assert sizes["discriminator"] == sizes["weights"] == trunk + 129  # Table 5
    assert isinstance(method.likelihood, Bernoulli)


def test_running_statistics_are_of_images_and_single_interventions() -> None:
    """Not of what is encoded and decoded again, nor of what is translated."""
    method = normalized(Intervention, importance_weights=False, lambda_adv=0.0)
    method.loss(Batch(larger_images(seed=1)), Batch(larger_images(seed=2)))
    assert batches_remembered(method.encoder) == batches_remembered(method.decoder) == {1}


def test_codes_have_no_noise_and_no_prior() -> None:
    method, x = make(Intervention), images()
    assert_close(method.encode(x), method.encoder(x), rtol=0, atol=0)
    z, z_r = method.sample_codes(Batch(x), Batch(images(seed=5)))
    assert_close(torch.cat([z, z_r]), method.encode(torch.cat([x, images(seed=5)])))
    with pytest.raises(
        ValueError, match=r"intervention has no prior over its codes.*sequential-intervention"
    ):
        method.sample_prior(3)


def test_an_encoder_with_a_posterior_is_refused() -> None:
    encoder, decoder = MLPEncoder((4,), 6, hidden=()), MLPDecoder(6, (4,), hidden=())
    with pytest.raises(
        ValueError, match=r"require a deterministic encoder.*unbraid\.nn\.DeterministicEncoder"
    ):
        Intervention(encoder, decoder, nn.Identity(), nn.Identity(), num_features=3, feature_dim=2)


def test_options_of_the_sequential_method_are_not_those_of_the_paper() -> None:
    for name in ("beta", "beta_schedule", "feature_schedule", "freeze_learned", "prune_kl"):
        with pytest.raises(ValueError, match=f"There is no option of intervention '{name}'"):
            build_method(Intervention, (4,), n=1, architecture="mlp", **{name: 1.0})
