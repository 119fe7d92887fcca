"""Strands, sizes and the terms of Eq. 3, src/unbraid/methods/contrast_autoencoder.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import SHAPE, images, larger_images, loss, make, normalized
from unbraid.methods import CVAE, ContrastVAE, MMcVAE, PrincipledContrast, RbVAE, SRbVAE
from unbraid.methods.base import build_method
from unbraid.methods.contrast_autoencoder import ContrastAutoencoder
from unbraid.nn import MLPDecoder, MLPEncoder, background_batch_stats
from unbraid.objectives import kl_to_standard_normal
from unbraid.options import options_of
from unbraid.schedules import Linear
from unbraid.types import ContrastBatch, Gaussian

BATCH = ContrastBatch(images(seed=1), images(seed=2))


def test_the_code_is_cut_into_common_and_salient() -> None:
    method = build_method(ContrastVAE, (3, 28, 28), n=10, common_dim=5, salient_dim=3)
    assert dict(method.strands) == {"common": (0, 1, 2, 3, 4), "salient": (5, 6, 7)}
    assert method.strands.default == "salient"
    assert method.encode(torch.rand(2, 3, 28, 28)).shape == (2, 8)


def test_the_defaults_are_the_papers() -> None:
    strands = build_method(ContrastVAE, (3, 28, 28), n=10).strands
    assert len(strands["common"]) == 16 and len(strands["salient"]) == 8


def test_sizes_that_do_not_fit_the_encoder_are_refused() -> None:
    networks = MLPEncoder(SHAPE, 4, hidden=()), MLPDecoder(4, SHAPE, hidden=())
    with pytest.raises(
        ValueError, match="add up to the latent_dim of the encoder; got 3 and 2 for a latent_dim of 4"
    ):
        ContrastVAE(*networks, common_dim=3, salient_dim=2)
    with pytest.raises(ValueError, match="must each be at least 1"):
        ContrastVAE(*networks, common_dim=4, salient_dim=0)


def test_each_term_of_eq_3_by_itself() -> None:
    method = make(ContrastVAE)
    torch.manual_seed(7)
    evidence = method.elbo_terms(BATCH)
    q_x, q_y = method.posterior(BATCH.target), method.posterior(BATCH.background)
    assert_close(evidence.q_x.mean, q_x.mean)
    assert_close(evidence.q_y.logvar, q_y.logvar)
    torch.manual_seed(7)
    c_x, c_y = q_x.sample(), q_y.sample()
    assert_close((evidence.c_x, evidence.c_y), (c_x, c_y))
    c_y[:, 2:] = 0  # s = 0: the background is decoded from its common code alone
    assert_close(evidence.nll_x, method.likelihood.nll(method.decoder(c_x), BATCH.target))
    assert_close(evidence.nll_y, method.likelihood.nll(method.decoder(c_y), BATCH.background))
    assert_close(evidence.kl_x, kl_to_standard_normal(q_x))
    assert_close(evidence.kl_y, kl_to_standard_normal(Gaussian(q_y.mean[:, :2], q_y.logvar[:, :2])))
    assert_close(evidence.bound(3.0), evidence.nll_x + evidence.nll_y + 3 * (evidence.kl_x + evidence.kl_y))


def test_the_posterior_of_one_strand() -> None:
    method = make(ContrastVAE)
    q = method.posterior(images())
    assert_close(method.strand_posterior(q, "salient").mean, q.mean[:, 2:])
    assert_close(method.strand_posterior(q, "common").logvar, q.logvar[:, :2])


@pytest.mark.parametrize("cls", [ContrastVAE, CVAE, MMcVAE, RbVAE, SRbVAE], ids=lambda cls: cls.name())
def test_log_w2_logs_the_distance_and_does_not_minimize_it(
    cls: type[ContrastAutoencoder],
) -> None:
    plain, watched = loss(make(cls), BATCH), loss(make(cls, log_w2=True), BATCH)
    assert_close(plain.total, watched.total)
    assert set(watched.by_name) - set(plain.by_name) == {"w2"}
    assert_close(watched.by_name["w2"], loss(make(PrincipledContrast), BATCH).by_name["w2"])


FAMILY = [ContrastVAE, CVAE, MMcVAE, RbVAE, SRbVAE, PrincipledContrast]


@pytest.mark.parametrize("cls", FAMILY, ids=lambda cls: cls.name())
def test_shared_options_are_options_of_every_method(cls: type[ContrastAutoencoder]) -> None:
    """With the kinds, defaults and help of the base; `log_w2` only where the distance is not minimized."""
    options, base = options_of(cls), options_of(ContrastAutoencoder)
    shared = {"common_dim", "salient_dim", "beta_schedule", "likelihood", "batch_stats"}
    shared |= set() if cls is PrincipledContrast else {"log_w2"}
    assert options.keys() & {*shared, "log_w2"} == shared and "options" not in options
    assert all(options[name] == base[name] for name in shared)
    assert all(option.help for option in options.values())
    assert make(cls, beta_schedule=Linear(0.0, 1.0, 10)).arguments["common_dim"] == 2


LARGE = ContrastBatch(larger_images(16, seed=1), larger_images(16, seed=2) / 4)


@pytest.mark.parametrize("cls", FAMILY, ids=lambda cls: cls.name())
def test_separate_statistics_are_those_of_two_batches(cls: type[ContrastAutoencoder]) -> None:
    """In training, the codes of the target do not depend on the background, and the loss of every player is finite."""
    joint, separate = (normalized(cls, batch_stats=kind).train() for kind in ("joint", "separate"))
    other = larger_images(16, seed=9)
    for method, is_separate in ((joint, False), (separate, True)):
        q, changed = (method.posteriors(LARGE.target, y)[0].mean for y in (LARGE.background, other))
        assert torch.equal(q, changed) == is_separate
        decoded, altered = (
            method.apply_to_both(method.decoder, q.detach(), codes)[0]
            for codes in (q.detach(), 2 * q.detach())
        )
        assert torch.equal(decoded, altered) == is_separate
    for player in separate.players():
        terms = player.loss(LARGE)
        assert terms.total.isfinite()


def test_each_dataset_has_its_running_statistics() -> None:
    """A loss updates both; evaluation normalizes new observations as the target, and the background in its context."""
    method = normalized(ContrastVAE, batch_stats="separate").train()
    for _ in range(100):
        method.loss(LARGE)
    first = method.encoder.trunk[1]  # type: ignore[index]
    maps = [method.encoder.trunk[0](x).transpose(0, 1).flatten(1) for x in LARGE[:2]]  # type: ignore[index]
    assert_close(first.running_mean, maps[0].mean(1), rtol=0, atol=1e-4)
    assert_close(first.background_mean, maps[1].mean(1), rtol=0, atol=1e-4)
    trained, method = method.posteriors(*LARGE[:2]), method.eval()
    of_target = method.encode(LARGE.background)
    with background_batch_stats(method):
        of_background = method.encode(LARGE.background)
    assert_close(method.encode(LARGE.target), trained[0].mean, rtol=0, atol=0.05)
    assert_close(of_background, trained[1].mean, rtol=0, atol=0.05)
    assert (of_background - of_target).abs().max() > 0.1


def test_separate_statistics_need_batch_normalization() -> None:
    with pytest.raises(
        ValueError, match=r"separate requires networks with batch normalization, and these have none"
    ):
        build_method(
            ContrastVAE, (3, 28, 28), n=10, architecture="conv-contrast-layer", batch_stats="separate"
        )


def test_an_option_that_a_method_does_not_share_is_refused() -> None:
    networks = MLPEncoder(SHAPE, 4, hidden=()), MLPDecoder(4, SHAPE, hidden=())
    with pytest.raises(TypeError, match="unexpected keyword argument 'log_w2'"):
        PrincipledContrast(*networks, common_dim=2, salient_dim=2, log_w2=True)  # type: ignore[call-arg]
