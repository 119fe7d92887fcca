"""Strands, sizes and the terms of Eq. 3, src/unbraid/methods/contrast.py."""

import pytest
import torch
from torch.testing import assert_close

from tests.tiny import SHAPE, images, loss, make
from unbraid.methods import CVAE, ContrastVAE, MMcVAE, PrincipledContrast, RbVAE, SRbVAE
from unbraid.methods.assemble import assemble
from unbraid.methods.contrast import ContrastAutoencoder
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.objectives import kl_to_standard_normal
from unbraid.types import ContrastBatch, Gaussian

BATCH = ContrastBatch(images(seed=1), images(seed=2))


def test_the_code_is_cut_into_common_and_salient() -> None:
    method = assemble(ContrastVAE, (3, 28, 28), n=10, common=5, salient=3)
    assert dict(method.strands) == {"common": (0, 1, 2, 3, 4), "salient": (5, 6, 7)}
    assert method.strands.default == "salient"
    assert method.encode(torch.rand(2, 3, 28, 28)).shape == (2, 8)


def test_the_defaults_are_the_papers() -> None:
    strands = assemble(ContrastVAE, (3, 28, 28), n=10).strands
    assert len(strands["common"]) == 16 and len(strands["salient"]) == 8


def test_sizes_that_do_not_fit_the_encoder_are_refused() -> None:
    networks = MLPEncoder(SHAPE, 4, hidden=()), MLPDecoder(4, SHAPE, hidden=())
    with pytest.raises(ValueError, match="together as many as the encoder has; got 3 and 2 of 4"):
        ContrastVAE(*networks, common=3, salient=2)
    with pytest.raises(ValueError, match="at least 1 code each"):
        ContrastVAE(*networks, common=4, salient=0)


def test_each_term_of_eq_3_by_itself() -> None:
    method = make(ContrastVAE)
    torch.manual_seed(7)
    evidence = method.evidence(BATCH)
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


def test_a_part_is_one_strand_of_a_posterior() -> None:
    method = make(ContrastVAE)
    q = method.posterior(images())
    assert_close(method.part(q, "salient").mean, q.mean[:, 2:])
    assert_close(method.part(q, "common").logvar, q.logvar[:, :2])


@pytest.mark.parametrize("cls", [ContrastVAE, CVAE, MMcVAE, RbVAE, SRbVAE], ids=lambda cls: cls.name())
def test_the_distance_of_common_codes_is_logged_when_asked_for_and_never_minimised(
    cls: type[ContrastAutoencoder],
) -> None:
    plain, watched = loss(make(cls), BATCH), loss(make(cls, log_w2=True), BATCH)
    assert_close(plain.total, watched.total)
    assert set(watched.parts) - set(plain.parts) == {"w2"}
    assert_close(watched.parts["w2"], loss(make(PrincipledContrast), BATCH).parts["w2"])
