"""Weights, noise and players of UAI, src/unbraid/methods/uai.py."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.tiny import batch_for, loss, make
from unbraid.methods.uai import UAI


@pytest.mark.parametrize(
    ("weight", "part"),
    [
        ("lambda_class", "cross_entropy"),
        ("lambda_reconstruction", "squared_error"),
        ("lambda_invariance", "disentanglers"),
    ],
)
def test_raising_a_weight_by_one_adds_one_of_its_term(weight: str, part: str) -> None:
    batch = batch_for(UAI)
    low, high = (loss(make(UAI, **{weight: value}), batch) for value in (1.0, 2.0))
    assert_close(high.total - low.total, low.by_name[part])


class Recorder(nn.Module):
    """A decoder that records its input."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Tensor] = []

    def forward(self, codes: Tensor) -> Tensor:
        self.seen.append(codes)
        return torch.zeros(len(codes), 1, 3, 3, dtype=codes.dtype)


def test_the_decoder_gets_e1_with_holes_and_e2_whole() -> None:
    method, batch = make(UAI, e1_dim=20, e2_dim=3), batch_for(UAI, 100)
    method.decoder = Recorder()
    method.loss(batch)
    codes, shown = method.encode(batch.x), method.decoder.seen[0]
    assert_close(shown[:, 20:], codes[:, 20:])
    kept = shown[:, :20] != 0
    assert 0.45 < kept.double().mean() < 0.55
    assert_close(shown[:, :20][kept], 2 * codes[:, :20][kept])  # so that its mean is what it was


def test_disentanglers_learn_the_other_part_and_the_rest_learns_to_leave_them_noise() -> None:
    method, batch = make(UAI), batch_for(UAI)
    e1, e2 = method.encode(batch.x).chunk(2, 1)
    guess1, guess2 = method.disentanglers(e1, e2)
    expected = (guess1 - e1).square().sum(1) + (guess2 - e2).square().sum(1)
    assert_close(method.disentangler_loss(batch).total, expected.mean())
    torch.manual_seed(2)
    torch.rand(8, 2, dtype=torch.float64)  # of the holes
    u1, u2 = (2 * torch.rand(8, 2, dtype=torch.float64) - 1 for _ in range(2))
    expected = (guess1 - u1).square().sum(1) + (guess2 - u2).square().sum(1)
    assert_close(loss(method, batch).by_name["disentanglers"], expected.mean())


def test_the_adversary_moves_ten_times_and_never_reaches_the_encoder() -> None:
    method = make(UAI)
    main, adversary = method.players()
    assert (main.updates_per_step, adversary.updates_per_step) == (1, 10)
    gradients = torch.autograd.grad(
        method.disentangler_loss(batch_for(UAI)).total, [*method.encoder.parameters()], allow_unused=True
    )
    assert all(gradient is None for gradient in gradients)


def test_codes_lie_between_minus_one_and_one() -> None:
    method = make(UAI)
    assert method.encode(batch_for(UAI).x).abs().max() <= 1
    assert method.sample_prior(500).abs().max() <= 1
    decoded = method.decode(method.sample_prior(5).double())
    assert decoded.shape == (5, 1, 3, 3) and decoded.min() >= 0 and decoded.max() <= 1


def test_a_dropout_of_one_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"dropout must be below 1 and updates_per_step at least 1; got dropout=1\.0"
    ):
        make(UAI, dropout=1.0)
