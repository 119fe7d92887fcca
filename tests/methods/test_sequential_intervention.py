"""The sequential intervention autoencoder, src/unbraid/methods/sequential_intervention.py."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector
from torch.testing import assert_close

from tests.tiny import SHAPE, batch_for, images, larger_images, loss, make, normalized, without_noise
from unbraid.methods import HasPosterior, Intervention, SequentialIntervention
from unbraid.nn import ConcatEncoder, DeterministicEncoder, MLPDecoder, MLPEncoder
from unbraid.objectives import kl_per_dim, kl_to_standard_normal
from unbraid.optimizers import Adam
from unbraid.schedules import Linear
from unbraid.training.step import TrainingStep
from unbraid.types import Batch, Gaussian

BATCHES: tuple[Batch, Batch] = batch_for(SequentialIntervention), batch_for(SequentialIntervention, seed=5)


class Mean(nn.Module):
    """The mean of an encoder's posterior."""

    shape, latent_dim = SHAPE, 4

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, x: Tensor) -> Tensor:
        return self.encoder(x).mean


def test_without_noise_the_loss_is_that_of_the_paper_and_the_kl() -> None:
    """Eq. 3 of the same networks, whose codes are the means of the posterior."""
    method = make(SequentialIntervention, beta=3.0)
    networks = (Mean(method.encoder), method.decoder, method.discriminator, method.weights)
    paper = Intervention(*networks, num_features=4, translator=method.arguments["translator"])
    with without_noise():
        ours, theirs = loss(method, *BATCHES), loss(paper, *BATCHES)
    assert_close(ours.total, theirs.total + 3.0 * kl_to_standard_normal(method.posterior(BATCHES[0].x)))
    assert [name for name in ours.by_name if name != "kl"] == list(theirs.by_name)


def test_the_posterior_is_that_of_the_encoder() -> None:
    method, x = make(SequentialIntervention), images()
    assert isinstance(method, HasPosterior) and not isinstance(make(Intervention), HasPosterior)
    assert_close(method.posterior(x), method.encoder(x))
    assert_close(method.encode(x), method.posterior(x).mean)


def test_with_beta_codes_are_sampled_and_the_kl_is_part_of_the_loss() -> None:
    method = make(SequentialIntervention, beta=2.0, lambda_translation=0.0, lambda_cycle=0.0, lambda_adv=0.0)
    total, parts, _ = method.loss(*BATCHES)
    assert_close(total, parts["nll"] + 2 * parts["kl"])
    assert method.encode(images()).shape == (8, 4) and method.sample_prior(3).shape == (3, 4)
    with pytest.raises(ValueError, match=r"--beta must be above 0, because codes are sampled.*got 0"):
        make(SequentialIntervention, beta=0.0)


def test_the_schedule_multiplies_beta() -> None:
    alone = {"beta": 2.0, "lambda_translation": 0.0, "lambda_cycle": 0.0, "lambda_adv": 0.0}
    method = make(SequentialIntervention, beta_schedule=Linear(10.0, 1.0, 100), **alone)
    for step, weight in ((0, 20.0), (50, 11.0), (100, 2.0), (500, 2.0)):
        method.step.fill_(step)
        total, parts, _ = method.loss(*BATCHES)
        assert_close(total, parts["nll"] + weight * parts["kl"])


def test_features_become_active_one_after_the_other() -> None:
    """Inactive features are zero, have no KL, and are never intervened on."""
    method = make(
        SequentialIntervention,
        num_features=3,
        feature_dim=2,
        feature_schedule=Linear(0.0, 4.0, 100),
        beta=2.0,
    )
    for step, active in ((0, 1), (49, 1), (50, 2), (75, 3), (500, 3)):
        method.step.fill_(step)
        z, z_r = method.sample_codes(*BATCHES)
        for codes in (z, z_r, method.encode(images())):
            assert codes[:, : 2 * active].all() and not codes[:, 2 * active :].any()
        counts = torch.cat([method.sample_feature_mask(z) for _ in range(50)]).sum(0)
        assert counts[: 2 * active].all() and not counts[2 * active :].any()
        terms = method.loss(*BATCHES)
        assert terms.total.isfinite()
        out = method.encoder(BATCHES[0].x)
        expected = kl_to_standard_normal(Gaussian(*(part[:, : 2 * active] for part in out)))
        assert_close(terms.by_name["kl"], expected)


def test_a_feature_is_frozen_when_the_next_one_becomes_active() -> None:
    """Its encoder gets no gradient and its code is the mean; the newest feature is sampled."""
    options = {
        "num_features": 3,
        "feature_dim": 2,
        "beta": 1.0,
        "feature_schedule": Linear(1.0, 3.0, 10),
        "freeze_learned": True,
    }
    method = normalized(SequentialIntervention, **options)
    encoder = method.encoder
    assert isinstance(encoder, ConcatEncoder) and isinstance(encoder.first, ConcatEncoder)
    encoders = [encoder.first.first, encoder.first.second, encoder.second]
    assert [part.latent_dim for part in encoders] == [2, 2, 2] and len({id(part) for part in encoders}) == 3
    batches = Batch(larger_images()), Batch(larger_images(seed=5))
    for step, moving in ((0, [True, False, False]), (5, [False, True, False]), (10, [False, False, True])):
        method.zero_grad()
        method.step.fill_(step)
        codes = method.encode(batches[0].x)
        assert codes[:, : 2 * (1 + step // 5)].all()
        method.loss(*batches).total.backward()
        moved = [
            any(p.grad is not None and bool(p.grad.any()) for p in part.parameters()) for part in encoders
        ]
        assert moved == moving
        means = method.encode(torch.cat([batch.x for batch in batches]))
        exact = torch.cat(method.sample_codes(*batches)).isclose(means)
        assert exact[:, : 2 * (step // 5)].all() and not exact[:, 2 * (step // 5) : 2 * (1 + step // 5)].any()
    with pytest.raises(ValueError, match="--freeze-learned requires --feature-schedule"):
        normalized(SequentialIntervention, **options | {"feature_schedule": None})


def test_only_the_encoder_of_the_newest_feature_is_updated() -> None:
    """Also where the optimizer has momentum and weight decay."""
    method = small_sequential()
    assert isinstance(method.encoder, ConcatEncoder)
    training_step = TrainingStep(method, optimizer=Adam(1e-2, weight_decay=0.1))
    before = [parameters_to_vector(encoder.parameters()).clone() for encoder in method.encoder.encoders]
    for step in range(15):
        training_step.run(lambda: BATCHES[0], step)
        after = [parameters_to_vector(encoder.parameters()).clone() for encoder in method.encoder.encoders]
        changed = [not old.equal(new) for old, new in zip(before, after, strict=True)]
        assert changed == [index == step // 5 for index in range(3)]
        before = after
    together = make(SequentialIntervention, num_features=3, feature_schedule=Linear(1.0, 3.0, 10))
    assert not together.frozen_parameters(0)


def test_pruned_dimensions_of_frozen_features_are_zero_in_training() -> None:
    """Later features are trained with the code that is encoded in the end."""
    method = small_sequential(prune_kl=0.5)
    assert method.kl_average is not None
    method.kl_average.copy_(torch.tensor([0.4, 0.6, 0.1, 0.1, 0.1, 0.1]))
    for step, zero in ((4, {2, 3, 4, 5}), (5, {0, 4, 5}), (10, {0, 2, 3})):
        method.step.fill_(step)
        (q, q_r), sampled = method.posteriors(*BATCHES), method.sample_codes(*BATCHES)
        for codes in (*sampled, method.encode(images()), q.mean, q_r.logvar, kl_per_dim(q)[None]):
            assert set((codes == 0).all(0).nonzero()[:, 0].tolist()) == zero


def test_frozen_features_require_one_encoder_each() -> None:
    shared, two = MLPEncoder(SHAPE, 4), ConcatEncoder(MLPEncoder(SHAPE, 1), MLPEncoder(SHAPE, 3))
    networks = (
        MLPDecoder(4, SHAPE),
        DeterministicEncoder(MLPEncoder(SHAPE, 1)),
        DeterministicEncoder(MLPEncoder(SHAPE, 1)),
    )
    options = {"num_features": 2, "feature_dim": 2, "beta": 1.0, "feature_schedule": Linear(1.0, 2.0, 5)}
    for encoder, got in ((shared, "got MLPEncoder"), (two, r"got ConcatEncoder of \[1, 3\]")):
        with pytest.raises(ValueError, match=rf"ConcatEncoder of 2 encoders of 2 dimensions each; {got}\."):
            SequentialIntervention(encoder, *networks, freeze_learned=True, **options)
    TrainingStep(SequentialIntervention(two, *networks, lambda_translation=0.0, **options).double()).run(
        lambda: BATCHES[0], 0
    )


def small_sequential(**settings: Any) -> SequentialIntervention:
    """Three features of two dimensions; each is frozen after five steps."""
    options = {"num_features": 3, "feature_dim": 2, "beta": 1.0, "lambda_translation": 0.0, **settings}
    return make(SequentialIntervention, feature_schedule=Linear(1.0, 3.0, 10), freeze_learned=True, **options)


def test_dimensions_with_little_kl_are_zero_after_training() -> None:
    """The KL of each dimension is averaged in training. In training, and without prune_kl, no dimension is zero."""
    method = make(SequentialIntervention, num_features=2, feature_dim=2, beta=2.0, prune_kl=0.5)
    batches = BATCHES
    kl = kl_per_dim(method.posteriors(*batches)[0])
    assert method.kl_average is not None
    assert not method.eval().encode(images()).any()  # the average is zero before training
    method.loss(*batches)
    assert not method.kl_average.any()  # only updated in training mode
    method.train()
    for _ in range(800):
        method.update_kl_average(kl)
    assert_close(method.kl_average, kl.detach(), rtol=1e-2, atol=0)
    method.kl_average.copy_(torch.tensor([0.4, 0.6, 0.5, 0.1]))
    assert method.encode(images()).all()
    codes = method.eval().encode(images())
    assert not codes[:, [0, 3]].any() and codes[:, 1:3].all()
    assert make(SequentialIntervention, beta=2.0).eval().encode(images()).all()
