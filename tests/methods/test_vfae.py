"""Slopes, a slow rewriting and what is given in the VFAE, src/unbraid/methods/vfae.py."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import CLASSES, NUISANCES, SHAPE, batch_for, loss, make
from unbraid.methods.vfae import VFAE
from unbraid.objectives import fast_mmd
from unbraid.types import Gaussian


@pytest.mark.parametrize(
    ("weight", "part"), [("lambda_class", "cross_entropy"), ("lambda_invariance", "mmd")]
)
def test_raising_a_weight_by_one_adds_one_of_its_term(weight: str, part: str) -> None:
    batch = batch_for(VFAE)
    low, high = (loss(make(VFAE, **{weight: value}), batch) for value in (1.0, 2.0))
    assert_close(high.total - low.total, low.by_name[part])


def bounded(gaussian: Gaussian) -> tuple[Tensor, Tensor]:
    """The mean and the log variance of the first row, the latter held within ±10."""
    return gaussian.mean[0], 10 * torch.tanh(gaussian.logvar[0] / 10)


def test_wide_draws_do_not_overflow() -> None:
    method, batch = make(VFAE), batch_for(VFAE)
    for network in (method.encoder, method.upper, method.lower):
        for parameter in network.parameters():
            parameter.data.mul_(30.0)  # log variances of hundreds
    assert loss(method, batch).total.isfinite()


def test_slow_rewriting() -> None:
    method, batch = make(VFAE, lambda_class=0.0, lambda_invariance=0.0), batch_for(VFAE)
    torch.manual_seed(2)
    noise1, noise2 = torch.randn(8, 3, dtype=torch.float64), torch.randn(8, 1, dtype=torch.float64)
    total = torch.zeros((), dtype=torch.float64)
    for row in range(8):
        s = [F.one_hot(batch.nuisances[row, i], size) for i, size in enumerate(NUISANCES)]
        y = F.one_hot(batch.labels[row], CLASSES).double()
        s = torch.cat(s).double()
        channels = s[:, None, None].expand(-1, *SHAPE[1:])
        mu1, logvar1 = bounded(method.encoder(torch.cat([batch.x[row], channels])[None]))
        z1 = mu1 + logvar1.exp().sqrt() * noise1[row]
        mu2, logvar2 = bounded(method.upper(torch.cat([z1, y])[None]))
        z2 = mu2 + logvar2.exp().sqrt() * noise2[row]
        m1, l1 = bounded(method.lower(torch.cat([z2, y])[None]))
        logits = method.decoder(torch.cat([z1, s])[None])[0]
        total += F.binary_cross_entropy_with_logits(logits, batch.x[row], reduction="sum")
        total += 0.5 * ((logvar1 - l1).exp() + (mu1 - m1) ** 2 / l1.exp() - 1 + l1 - logvar1).sum()
        total += 0.5 * (mu2**2 + logvar2.exp() - 1 - logvar2).sum()
    assert_close(loss(method, batch).total, total / 8)


def test_the_discrepancy_is_summed_over_nuisances() -> None:
    """Two values: between them. Three values: each against the rest, averaged."""
    method, batch = make(VFAE), batch_for(VFAE)
    z1, s, width = torch.randn(8, 3, dtype=torch.float64), batch.nuisances, 3**0.5
    torch.manual_seed(7)
    found = method.discrepancy(z1, s)
    torch.manual_seed(7)
    first = fast_mmd(z1[s[:, 0] == 0], z1[s[:, 0] == 1], width=width)
    state = torch.get_rng_state()
    rest = []
    for value in range(3):
        torch.set_rng_state(state)  # the same features for every value
        rest.append(fast_mmd(z1[s[:, 1] == value], z1[s[:, 1] != value], width=width))
    assert_close(found, first + torch.stack(rest).mean())


def test_unseen_values_are_the_zero_vector() -> None:
    method, batch = make(VFAE), batch_for(VFAE)
    method.loss(batch)  # which shows it the values
    unseen = torch.full_like(batch.nuisances, 99)
    assert_close(method.encode(batch.x, unseen), method.encode(batch.x))
    assert not torch.equal(method.encode(batch.x, batch.nuisances), method.encode(batch.x))
    codes = method.encode(batch.x)
    assert_close(method.decode(codes, unseen), method.decode(codes))
    assert not torch.equal(method.decode(codes, batch.nuisances), method.decode(codes))


def test_nuisance_dropout_hides_nuisances_from_the_encoder_alone() -> None:
    """About a quarter of the observations is encoded as later those with values that training does not have."""
    plain, method = make(VFAE), make(VFAE, nuisance_dropout=0.25)
    batch = batch_for(VFAE, 4_000)
    vectors = method.nuisances(method.nuisances.record_values(batch.nuisances), batch.x)
    torch.manual_seed(0)
    hidden = method.dropped(vectors).sum(1) == 0
    assert_close(hidden.double().mean().item(), 0.25, atol=0.02, rtol=0)
    torch.manual_seed(0)
    assert_close(method.dropped(vectors)[~hidden], vectors[~hidden])
    assert plain.dropped(vectors) is vectors
    seen: list[Tensor] = []
    method.decoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    method.loss(batch)
    assert_close(seen[0][:, -vectors.shape[1] :], vectors)  # the decoder gets every nuisance
    with pytest.raises(ValueError, match="nuisance_dropout must be below 1; got 1"):
        make(VFAE, nuisance_dropout=1.0)


def test_the_codes_are_both_means_and_only_the_first_is_decoded() -> None:
    method, batch = make(VFAE), batch_for(VFAE)
    method.loss(batch)
    codes = method.encode(batch.x, batch.nuisances)
    z1, z2 = method.strands.take(codes, "z1"), method.strands.take(codes, "z2")
    assert_close(z1, method.posterior1(batch.x, batch.nuisances).mean)
    y = method.predict(batch.x, batch.nuisances).softmax(1)
    assert_close(z2, method.posterior2(z1, y).mean)
    assert_close(method.decode(method.strands.zero(codes, "z2")), method.decode(codes))


def test_new_codes_come_from_the_model_itself() -> None:
    method = make(VFAE).float()
    with torch.no_grad():
        codes = method.sample_prior(2000)
    assert codes.shape == (2000, 4)
    assert abs(float(codes[:, 3].std()) - 1) < 0.1  # z2 is standard normal
