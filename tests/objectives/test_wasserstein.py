"""Transport between batches of codes, src/unbraid/objectives/wasserstein.py."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.metrics import w2
from unbraid.objectives.wasserstein import squared_distances, squared_w2, squared_w2_to_zero
from unbraid.types import Gaussian


def batches(n: int = 12, d: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    return tuple(torch.randn(2, n, d, dtype=torch.float64))  # type: ignore[return-value]


def test_two_points_by_hand() -> None:
    """0 and 3 onto 4 and 1: crossing costs (16 + 4) / 2, straight ahead (1 + 1) / 2."""
    a, b = torch.tensor([[0.0], [3.0]]), torch.tensor([[4.0], [1.0]])
    assert_close(squared_w2(a, b), torch.tensor(1.0))


def test_on_a_line_the_sorted_codes_are_matched() -> None:
    a, b = batches(d=1)
    assert_close(squared_w2(a, b), (a.sort(0).values - b.sort(0).values).square().mean())


def test_a_shift_costs_its_square_and_order_costs_nothing() -> None:
    a, _ = batches()
    shift = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    assert_close(squared_w2(a, (a + shift).flip(0)), shift.square().sum())


def test_it_is_the_metric() -> None:
    a, b = batches(40, 5)
    assert_close(squared_w2(a, b + 3).item(), w2(a.numpy(), b.numpy() + 3).score)


def test_value_and_gradient_are_those_of_pot() -> None:
    ot = pytest.importorskip("ot", reason="POT is not installed: pip install 'unbraid[transport]'")
    a, b = (part.requires_grad_() for part in batches(32, 4))
    ours = squared_w2(a, b)
    theirs = ot.emd2(torch.full((32,), 1 / 32).double(), torch.full((32,), 1 / 32).double(), ot.dist(a, b))
    assert_close(ours, theirs)
    assert_close(torch.autograd.grad(ours, [a, b]), torch.autograd.grad(theirs, [a, b]))


def test_gradient_is_that_of_finite_differences() -> None:
    """Danskin: away from ties the plan does not change, so the value is smooth and its gradient the cost's."""
    a, b = (part.requires_grad_() for part in batches(6, 2))
    assert torch.autograd.gradcheck(squared_w2, (a, b))


def test_gradient_by_hand() -> None:
    a, b = batches(2, 1)
    a, b = torch.tensor([[0.0], [3.0]], requires_grad=True), torch.tensor([[4.0], [1.0]], requires_grad=True)
    gradients = torch.autograd.grad(squared_w2(a, b), [a, b])  # 2/B (a_i - b_j) of the pairs (0, 1), (3, 4)
    assert_close(gradients, (torch.tensor([[-1.0], [-1.0]]), torch.tensor([[1.0], [1.0]])))


def test_the_distance_of_two_batches_of_one_law_is_not_zero() -> None:
    """The calibration: 4.49 on average for two batches of 128 from N(0, I) in 8 dimensions."""
    values = [squared_w2(*torch.randn(2, 128, 8)).item() for _ in range(20)]
    assert abs(np.mean(values) - 4.49) < 0.15


def test_batches_of_different_sizes_are_refused() -> None:
    a, b = batches()
    with pytest.raises(ValueError, match=r"two batches of the same size; got \(12, 3\) and \(5, 3\)"):
        squared_w2(a, b[:5])


def test_distances_keep_their_digits_under_autocast() -> None:
    a, b = torch.randn(2, 8, 4)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = squared_distances(a, b)
    assert rounded.dtype == torch.float32
    assert_close(rounded, torch.cdist(a.double(), b.double()).square().float())


def test_many_pairs_of_batches_at_once_under_vmap() -> None:
    a, b = torch.randn(2, 3, 8, 2)
    pairs = zip(a, b, strict=True)
    assert_close(torch.func.vmap(squared_w2)(a, b), torch.stack([squared_w2(*pair) for pair in pairs]))


def test_lemma_2() -> None:
    """Moving a Gaussian onto the point 0 costs E‖s‖² = ‖μ‖² + ‖σ‖²: in closed form, and by drawing from it."""
    mean = torch.tensor([[1.0, -2.0]], dtype=torch.float64)
    q = Gaussian(mean, torch.tensor([[0.25, 4.0]], dtype=torch.float64).log())
    assert_close(squared_w2_to_zero(q).item(), 1 + 4 + 0.25 + 4)
    drawn = Gaussian(mean.expand(100_000, 2), q.logvar.expand(100_000, 2)).sample()
    assert abs(drawn.square().sum(1).mean().item() - 9.25) < 0.1
    some = drawn[:500]
    assert_close(squared_w2(some, torch.zeros_like(some)), some.square().sum(1).mean())
