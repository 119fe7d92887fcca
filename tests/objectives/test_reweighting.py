"""Weights that average to one, and the ratio they converge to, src/unbraid/objectives/reweighting.py."""

import math

import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.objectives import adversarial_terms, normalized_weights


def test_weights_average_to_one_whatever_their_scale() -> None:
    log_w = torch.tensor([0.0, math.log(2.0), math.log(3.0)], dtype=torch.float64)
    expected = torch.tensor([0.5, 1.0, 1.5], dtype=torch.float64)  # W / N with N = 2
    assert_close(normalized_weights(log_w), expected)
    assert_close(normalized_weights(log_w + 1000), expected)


def test_a_discriminator_that_guesses_scores_minus_two_log_two() -> None:
    zeros = torch.zeros(4, dtype=torch.float64)
    value = adversarial_terms(zeros, zeros, torch.ones_like(zeros))
    assert_close(value.item(), -2 * math.log(2))
    assert_close(adversarial_terms(None, zeros, torch.ones_like(zeros)).item(), -math.log(2))
    assert_close(adversarial_terms(None, zeros, torch.ones_like(zeros), saturating=False).item(), math.log(2))


def test_the_terms_by_hand() -> None:
    """Disc = 0.8 on the real image; 0.2 with weight 1.5 and 0.6 with weight 0.5 on the others."""
    real = torch.logit(torch.tensor([0.8, 0.8], dtype=torch.float64))
    fake = torch.logit(torch.tensor([0.2, 0.6], dtype=torch.float64))
    weights = torch.tensor([1.5, 0.5], dtype=torch.float64)
    expected = math.log(0.8) + (1.5 * math.log(0.8) + 0.5 * math.log(0.4)) / 2
    assert_close(adversarial_terms(real, fake, weights).item(), expected)
    other = math.log(0.8) - (1.5 * math.log(0.2) + 0.5 * math.log(0.6)) / 2
    assert_close(adversarial_terms(real, fake, weights, saturating=False).item(), other)


COUNTS = torch.tensor(
    [[4.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 4.0]], dtype=torch.float64
)  # of two factors


def test_weights_converge_to_the_ratio_of_densities() -> None:
    """Prop. 2 on a discrete joint: with the ideal discriminator p / (p + w ṗ), W ends at p / ṗ.

    Two correlated factors of three values. ṗ is the mean over both factors of p(g without g_k) p(g_k), which for two
    factors is the product of the margins (Eq. 1). In a batch of 22² images each combination occurs as often as it is
    likely: 22 times its count before interventions, and after them the product of its row and column.
    """
    before = (22 * COUNTS).flatten()
    after = (COUNTS.sum(1, keepdim=True) * COUNTS.sum(0, keepdim=True)).flatten()
    real, fake = (torch.arange(9).repeat_interleave(counts.long()) for counts in (before, after))
    log_w = torch.zeros(9, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([log_w], lr=0.05)

    def weights() -> Tensor:
        """Of each combination that occurs after interventions."""
        return torch.zeros(9, dtype=torch.float64).index_copy(0, fake, normalized_weights(log_w[fake]))

    for _ in range(600):
        ideal = (before / (weights().detach() * after)).log()
        optimizer.zero_grad()
        adversarial_terms(None, ideal[fake], normalized_weights(log_w[fake])).backward()
        optimizer.step()
    assert_close(weights().detach(), before / after, rtol=1e-3, atol=0)
    logits = ideal.requires_grad_()
    value = adversarial_terms(logits[real], logits[fake], weights().detach()[fake])
    (slope,) = torch.autograd.grad(value, [logits])
    assert_close(slope, torch.zeros_like(slope), rtol=0, atol=1e-4)  # no discriminator does better
    assert_close(value.item(), -2 * math.log(2), rtol=1e-4, atol=0)  # which cannot tell them apart any more
