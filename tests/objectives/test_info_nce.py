"""Contrast by hand and by a slow rewriting, src/unbraid/objectives/info_nce.py."""

import math

import torch
from torch.nn import functional as F
from torch.testing import assert_close

from unbraid.objectives.info_nce import contrast_gradient, info_nce, supcon_loss

RIGHT, UP = (1.0, 0.0), (0.0, 1.0)


def rows(*vectors: tuple[float, float]) -> torch.Tensor:
    return torch.tensor(vectors, dtype=torch.float64)


def test_two_of_a_class_and_one_alone_by_hand() -> None:
    """Each of the two finds the other with e / (e + 1); the one alone has nothing to find and adds 0."""
    found = supcon_loss(rows(RIGHT, RIGHT, UP), torch.tensor([0, 0, 1]), temperature=1.0)
    assert_close(found.item(), 2 / 3 * math.log(1 + math.exp(-1)))


def test_the_temperature_divides_the_similarity() -> None:
    found = supcon_loss(rows(RIGHT, RIGHT, UP), torch.tensor([0, 0, 1]), temperature=0.25)
    assert_close(found.item(), 2 / 3 * math.log(1 + math.exp(-4)))


def test_when_all_are_alike_a_row_is_one_of_the_n_minus_one_others() -> None:
    found = supcon_loss(rows(*[UP] * 5), torch.zeros(5, dtype=torch.long), temperature=0.1)
    assert_close(found.item(), math.log(4))


def test_rows_without_positives_add_nothing_and_are_never_nan() -> None:
    for count in (1, 3):
        z = torch.randn(count, 2, dtype=torch.float64, requires_grad=True)
        value = supcon_loss(F.normalize(z), torch.arange(count), temperature=0.1)
        (gradient,) = torch.autograd.grad(value, z)
        assert value == 0 and gradient.isfinite().all() and not gradient.any()


def test_a_code_of_zero_has_a_finite_gradient() -> None:
    z = torch.zeros(4, 2, dtype=torch.float64, requires_grad=True)
    value = supcon_loss(F.normalize(z), torch.tensor([0, 0, 1, 1]), temperature=0.1)
    assert_close(value.item(), math.log(3))
    assert torch.autograd.grad(value, z)[0].isfinite().all()


def test_a_row_is_never_its_own_positive() -> None:
    z = F.normalize(torch.randn(4, 3, dtype=torch.float64))
    others = ~torch.eye(4, dtype=torch.bool)
    everyone = torch.ones(4, 4, dtype=torch.bool)
    assert_close(info_nce(z, everyone, temperature=0.5), info_nce(z, others, temperature=0.5))


def test_with_one_positive_it_is_the_cross_entropy_of_finding_it() -> None:
    z = F.normalize(torch.randn(6, 3, dtype=torch.float64))
    partner = torch.tensor([3, 4, 5, 0, 1, 2])
    similarity = (z @ z.T / 0.2).masked_fill(torch.eye(6, dtype=torch.bool), -math.inf)
    assert_close(
        info_nce(z, F.one_hot(partner).bool(), temperature=0.2), F.cross_entropy(similarity, partner)
    )


def test_slow_rewriting() -> None:
    z, labels, tau = F.normalize(torch.randn(7, 3, dtype=torch.float64)), [0, 1, 0, 2, 1, 0, 3], 0.3
    total = 0.0
    for i in range(7):
        positives = [p for p in range(7) if p != i and labels[p] == labels[i]]
        below = sum(math.exp(float(z[i] @ z[a]) / tau) for a in range(7) if a != i)
        for p in positives:
            total -= math.log(math.exp(float(z[i] @ z[p]) / tau) / below) / len(positives)
    found = supcon_loss(z, torch.tensor(labels), temperature=tau)
    assert_close(found.item(), total / 7)


def test_identical_embeddings_cost_the_logarithm_of_their_number_and_orthogonal_ones_less() -> None:
    """2n views in n pairs. All alike: log(2n - 1). Pairs alike and orthogonal to the rest: one match of e^(1/τ)
    beside 2n - 2 of e^0, so log(1 + (2n - 2) e^(-1/τ))."""
    n, tau = 4, 0.5
    pairs = torch.arange(n).repeat_interleave(2)
    alike, apart = torch.eye(n, dtype=torch.float64)[[0] * 2 * n], torch.eye(n, dtype=torch.float64)[pairs]
    assert_close(supcon_loss(alike, pairs, temperature=tau).item(), math.log(2 * n - 1))
    expected = math.log(1 + (2 * n - 2) * math.exp(-1 / tau))
    assert_close(supcon_loss(apart, pairs, temperature=tau).item(), expected)


def test_ignored_rows_are_no_negatives_and_positives_stay() -> None:
    """Of four alike, two of them positives of each other: 3 to choose from, or with the others ignored 1."""
    z, pairs = rows(*[UP] * 4), torch.tensor([0, 0, 1, 1])
    positives, all_of_one_class = pairs[:, None] == pairs[None], torch.ones(4, 4, dtype=torch.bool)
    assert_close(info_nce(z, positives, temperature=0.1).item(), math.log(3))
    assert_close(info_nce(z, positives, temperature=0.1, ignored=all_of_one_class).item(), 0.0)
    one = torch.zeros(4, 4, dtype=torch.bool)
    one[:, 3] = True  # the first two lose a negative; to the third it is a positive, to the fourth itself
    found = info_nce(z, positives, temperature=0.1, ignored=one).item()
    assert_close(found, (2 * math.log(2) + 2 * math.log(3)) / 4)


def test_the_closed_form_is_the_gradient_of_the_sum() -> None:
    z = F.normalize(torch.randn(7, 3, dtype=torch.float64)).requires_grad_()
    labels = torch.tensor([0, 1, 0, 2, 1, 0, 3])  # two rows without positives
    positives = labels[:, None] == labels[None]
    ignored = torch.rand(7, 7) < 0.3
    for left_out in (None, ignored):
        value = 7 * info_nce(z, positives, temperature=0.3, ignored=left_out)
        (expected,) = torch.autograd.grad(value, z)
        assert_close(contrast_gradient(z, positives, temperature=0.3, ignored=left_out), expected)


def test_the_closed_form_can_be_differentiated_again() -> None:
    z = F.normalize(torch.randn(5, 3, dtype=torch.float64)).requires_grad_()
    positives = torch.tensor([0, 0, 1, 1, 1])[:, None] == torch.tensor([0, 0, 1, 1, 1])[None]
    (first,) = torch.autograd.grad(5 * info_nce(z, positives, temperature=0.3), z, create_graph=True)
    (expected,) = torch.autograd.grad(first.square().sum(), z)
    closed = contrast_gradient(z, positives, temperature=0.3)
    assert_close(torch.autograd.grad(closed.square().sum(), z)[0], expected)
