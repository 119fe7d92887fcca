"""The code of the intervention autoencoder, src/unbraid/methods/feature_autoencoder.py."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector
from torch.testing import assert_close

from tests.tiny import SHAPE, batch_for, images, larger_images, make, normalized
from unbraid.methods import Intervention
from unbraid.methods.base import build_method
from unbraid.nn import ConcatEncoder, DeterministicEncoder, MLPDecoder, MLPEncoder
from unbraid.objectives import kl_to_standard_normal
from unbraid.optimizers import Adam
from unbraid.schedules import Linear
from unbraid.training.step import TrainingStep
from unbraid.types import Batch, Gaussian


def test_with_beta_codes_are_sampled_and_the_kl_is_part_of_the_loss() -> None:
    method = make(Intervention, beta=2.0, lambda_translation=0.0, lambda_cycle=0.0, lambda_adv=0.0)
    total, parts, _ = method.loss(batch_for(Intervention), batch_for(Intervention, seed=5))
    assert_close(total, parts["nll"] + 2 * parts["kl"])
    assert method.encode(images()).shape == (8, 4) and method.sample_prior(3).shape == (3, 4)
    with pytest.raises(ValueError, match=r"prior requires a Gaussian posterior, and this model has beta=0"):
        make(Intervention).sample_prior(3)


def test_the_schedule_multiplies_beta() -> None:
    alone = {"beta": 2.0, "lambda_translation": 0.0, "lambda_cycle": 0.0, "lambda_adv": 0.0}
    method = make(Intervention, beta_schedule=Linear(10.0, 1.0, 100), **alone)
    for step, weight in ((0, 20.0), (50, 11.0), (100, 2.0), (500, 2.0)):
        method.step.fill_(step)
        total, parts, _ = method.loss(batch_for(Intervention), batch_for(Intervention, seed=5))
        assert_close(total, parts["nll"] + weight * parts["kl"])
    with pytest.raises(ValueError, match="--beta-schedule multiplies --beta, and --beta is 0"):
        make(Intervention, beta_schedule=Linear(10.0, 1.0, 100))


@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_features_become_active_one_after_the_other(beta: float) -> None:
    """Inactive features are zero, have no KL, and are never intervened on."""
    method = make(
        Intervention, num_features=3, feature_dim=2, feature_schedule=Linear(0.0, 4.0, 100), beta=beta
    )
    for step, active in ((0, 1), (49, 1), (50, 2), (75, 3), (500, 3)):
        method.step.fill_(step)
        z, z_r, kl = method.sample_codes(batch_for(Intervention), batch_for(Intervention, seed=5))
        for codes in (z, z_r, method.encode(images())):
            assert codes[:, : 2 * active].all() and not codes[:, 2 * active :].any()
        counts = torch.cat([method.sample_feature_mask(z) for _ in range(50)]).sum(0)
        assert counts[: 2 * active].all() and not counts[2 * active :].any()
        assert method.loss(batch_for(Intervention), batch_for(Intervention, seed=5)).total.isfinite()
        if kl is not None:
            out = method.encoder(batch_for(Intervention).x)
            assert_close(kl.sum(), kl_to_standard_normal(Gaussian(*(part[:, : 2 * active] for part in out))))


def test_a_feature_is_frozen_when_the_next_one_becomes_active() -> None:
    """Its encoder gets no gradient and its code is the mean; the newest feature is sampled."""
    options = {
        "num_features": 3,
        "feature_dim": 2,
        "beta": 1.0,
        "feature_schedule": Linear(1.0, 3.0, 10),
        "freeze_learned": True,
    }
    method = normalized(Intervention, **options)
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
        exact = torch.cat(method.sample_codes(*batches)[:2]).isclose(means)
        assert exact[:, : 2 * (step // 5)].all() and not exact[:, 2 * (step // 5) : 2 * (1 + step // 5)].any()
    for settings in ({"feature_schedule": None}, {"beta": 0.0}):
        with pytest.raises(
            ValueError, match="--freeze-learned requires --feature-schedule and --beta above 0"
        ):
            normalized(Intervention, **options | settings)


def test_only_the_encoder_of_the_newest_feature_is_updated() -> None:
    """Also where the optimizer has momentum and weight decay."""
    method = small_sequential()
    assert isinstance(method.encoder, ConcatEncoder)
    training_step = TrainingStep(method, optimizer=Adam(1e-2, weight_decay=0.1))
    before = [parameters_to_vector(encoder.parameters()).clone() for encoder in method.encoder.encoders]
    for step in range(15):
        training_step.run(lambda: batch_for(Intervention), step)
        after = [parameters_to_vector(encoder.parameters()).clone() for encoder in method.encoder.encoders]
        changed = [not old.equal(new) for old, new in zip(before, after, strict=True)]
        assert changed == [index == step // 5 for index in range(3)]
        before = after
    together = make(Intervention, num_features=3, feature_schedule=Linear(1.0, 3.0, 10))
    assert not together.frozen_parameters(0)


def test_pruned_dimensions_of_frozen_features_are_zero_in_training() -> None:
    """Later features are trained with the code that is encoded in the end."""
    method = small_sequential(prune_kl=0.5)
    assert method.kl_average is not None
    method.kl_average.copy_(torch.tensor([0.4, 0.6, 0.1, 0.1, 0.1, 0.1]))
    for step, zero in ((4, {2, 3, 4, 5}), (5, {0, 4, 5}), (10, {0, 2, 3})):
        method.step.fill_(step)
        z, z_r, kl = method.sample_codes(batch_for(Intervention), batch_for(Intervention, seed=5))
        assert kl is not None
        for codes in (z, z_r, method.encode(images()), kl[None]):
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
            Intervention(encoder, *networks, freeze_learned=True, **options)
    TrainingStep(Intervention(two, *networks, lambda_translation=0.0, **options).double()).run(
        lambda: batch_for(Intervention), 0
    )


def small_sequential(**settings: Any) -> Intervention:
    """Three features of two dimensions; each is frozen after five steps."""
    options = {"num_features": 3, "feature_dim": 2, "beta": 1.0, "lambda_translation": 0.0, **settings}
    return make(Intervention, feature_schedule=Linear(1.0, 3.0, 10), freeze_learned=True, **options)


def test_dimensions_with_little_kl_are_zero_after_training() -> None:
    """The KL of each dimension is averaged in training. In training, and without prune_kl, no dimension is zero."""
    method = make(Intervention, num_features=2, feature_dim=2, beta=2.0, prune_kl=0.5)
    batches = batch_for(Intervention), batch_for(Intervention, seed=5)
    _, _, kl = method.sample_codes(*batches)
    assert kl is not None and method.kl_average is not None
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
    assert make(Intervention, beta=2.0).eval().encode(images()).all()
    with pytest.raises(ValueError, match="--prune-kl requires a Gaussian posterior: set --beta above 0"):
        make(Intervention, prune_kl=0.5)


def test_features_of_several_dimensions_are_strands() -> None:
    method = make(Intervention, num_features=2, feature_dim=3)
    assert dict(method.strands) == {"codes": tuple(range(6)), "z0": (0, 1, 2), "z1": (3, 4, 5)}
    assert method.feature_strands == ("z0", "z1") and method.strands.default == "codes"
    assert make(Intervention).feature_strands == ()
    with pytest.raises(ValueError, match="There is no strand 'z2'"):
        method.strands["z2"]
    with pytest.raises(ValueError, match="There is no dimension 6; the code has dimensions 0 to 5"):
        method.strands[6]


def test_bad_sizes_are_refused() -> None:
    encoder, decoder = DeterministicEncoder(MLPEncoder((4,), 5, hidden=())), MLPDecoder(5, (4,), hidden=())
    heads = nn.Identity(), nn.Identity()
    with pytest.raises(
        ValueError, match=r"strands have 6 dimensions in total, and the encoder has 5\. .* or an encoder of 6"
    ):
        Intervention(encoder, decoder, *heads, num_features=3, feature_dim=2)
    with pytest.raises(ValueError, match="Linear has no attribute `latent_dim`"):
        Intervention(nn.Linear(4, 6), decoder, *heads, num_features=3, feature_dim=2)
    six = MLPEncoder((4,), 6, hidden=())
    with pytest.raises(ValueError, match=r"of 6 dimensions, and the decoder takes 5\. Pass a decoder of 6"):
        Intervention(DeterministicEncoder(six), decoder, *heads, num_features=3, feature_dim=2)
    with pytest.raises(
        ValueError, match=r"requires a deterministic encoder.*unbraid\.nn\.DeterministicEncoder"
    ):
        Intervention(six, MLPDecoder(6, (4,), hidden=()), *heads, num_features=3, feature_dim=2)
    with pytest.raises(ValueError, match=r"num_features must be at least 2.*num_features=1"):
        build_method(Intervention, (4,), n=1, architecture="mlp", num_features=1)
    with pytest.raises(ValueError, match="inner_steps=0"):
        make(Intervention, inner_steps=0)
