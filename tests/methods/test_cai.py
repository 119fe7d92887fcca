"""Both games of CAI, src/unbraid/methods/cai.py."""

import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.methods.cai import CAI
from unbraid.methods.cnn import CNN


def test_without_invariance_its_encoder_learns_what_the_cnns_does() -> None:
    batch = batch_for(CAI)
    for game in ("reversal", "alternating"):
        method, plain = make(CAI, lambda_invariance=0.0, adversary_update=game), make(CNN)
        found, expected = (
            torch.autograd.grad(loss(one, batch).total, [*one.encoder.parameters()])
            for one in (method, plain)
        )
        assert_close(found, expected)


def test_the_nuisances_error_is_summed_over_them() -> None:
    method, batch = make(CAI), batch_for(CAI)
    first, second = method.discriminators(method.encode(batch.x))
    expected = F.cross_entropy(first, batch.nuisances[:, 0]) + F.cross_entropy(second, batch.nuisances[:, 1])
    assert_close(loss(method, batch).by_name["nuisances"], expected)


def test_both_games_push_the_encoder_the_same_way() -> None:
    """It climbs what the discriminators descend: its gradient is that of CE(y) - λ CE(s)."""
    batch = batch_for(CAI)
    reversal, alternating = (
        make(CAI, lambda_invariance=0.7, adversary_update=game) for game in ("reversal", "alternating")
    )
    one, other = (
        torch.autograd.grad(loss(method, batch).total, [*method.encoder.parameters()])
        for method in (reversal, alternating)
    )
    assert_close(one, other)
    terms = loss(alternating, batch)
    assert_close(terms.total, terms.by_name["cross_entropy"] - 0.7 * terms.by_name["nuisances"])


def test_discriminators_descend_in_both_games() -> None:
    batch = batch_for(CAI)
    reversal, alternating = (
        make(CAI, lambda_invariance=0.7, adversary_update=game) for game in ("reversal", "alternating")
    )
    one = torch.autograd.grad(loss(reversal, batch).total, [*reversal.discriminators.parameters()])
    total = alternating.discriminator_loss(batch).total
    other = torch.autograd.grad(total, [*alternating.discriminators.parameters()])
    assert_close(one, other)


def test_the_discriminators_loss_never_reaches_the_encoder() -> None:
    method = make(CAI, adversary_update="alternating")
    total = method.discriminator_loss(batch_for(CAI)).total
    gradients = torch.autograd.grad(total, [*method.encoder.parameters()], allow_unused=True)
    assert all(gradient is None for gradient in gradients)
    assert [player.name for player in method.players()] == ["model", "discriminators"]
    assert [player.name for player in make(CAI).players()] == ["model"]
