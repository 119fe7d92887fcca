"""The regularizers by hand, by slow rewritings and by what leaves them unchanged,
src/unbraid/objectives/subembeddings.py."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from unbraid.objectives.subembeddings import hessian_blocks, infomin, orthogonality, unit_subembeddings


def parts(rows: int, count: int = 2, size: int = 4) -> Tensor:
    return F.normalize(torch.randn(rows, count, size, dtype=torch.float64), dim=2)


def turn(size: int) -> Tensor:
    """A random rotation."""
    return torch.linalg.qr(torch.randn(size, size, dtype=torch.float64))[0]


def test_infomin_of_parts_that_are_all_alike_is_that_of_a_guess() -> None:
    """Each of two ordered pairs of parts finds its own row among n: log(1/n)."""
    z = F.normalize(torch.ones(5, 2, 3, dtype=torch.float64), dim=2)
    assert_close(infomin(z, temperature=0.1).item(), -2 * math.log(5))


def test_infomin_by_hand() -> None:
    """Two rows along two axes. Equal parts: e^(1/τ) beside e^0. Parts that swap the axes: the reverse."""
    axes = torch.eye(2, dtype=torch.float64)
    equal, swapped = torch.stack([axes, axes], 1), torch.stack([axes, axes.flip(0)], 1)
    assert_close(infomin(equal, temperature=0.5).item(), -2 * math.log(1 + math.exp(-2)))
    assert_close(infomin(swapped, temperature=0.5).item(), -2 * math.log(1 + math.exp(2)))


def test_infomin_as_printed_by_a_slow_rewriting() -> None:
    """Eq. 4 with z_{a,k} in the denominator, over the other rows as in Eq. 1."""
    z, tau, total = parts(4, count=3), 0.3, 0.0
    for k in range(3):
        for other in range(3):
            for i in range(4) if k != other else ():
                below = sum(math.exp(float(z[i, k] @ z[a, k]) / tau) for a in range(4) if a != i)
                total += math.log(math.exp(float(z[i, k] @ z[i, other]) / tau) / below) / 4
    assert_close(infomin(z, temperature=tau, form="printed").item(), total)


def test_only_the_printed_form_falls_when_images_come_closer() -> None:
    """Two images, both parts orthogonal to each other: far apart, and then equal. The printed form, which InfoMax
    opposes, falls from 0 by 1/τ for each part; the corrected form is that of a guess in both."""
    axes = torch.eye(4, dtype=torch.float64)
    far, equal = torch.stack([axes[[0, 1]], axes[[2, 3]]], 1), torch.stack([axes[[0, 0]], axes[[2, 2]]], 1)
    assert_close(infomin(far, temperature=0.5, form="printed").item(), 0.0)
    assert_close(infomin(equal, temperature=0.5, form="printed").item(), -2 / 0.5)
    for z in (far, equal):
        assert_close(infomin(z, temperature=0.5).item(), -2 * math.log(2))


def test_infomin_by_a_slow_rewriting() -> None:
    z, tau, total = parts(4, count=3), 0.3, 0.0
    for k in range(3):
        for other in range(3):
            for i in range(4) if k != other else ():
                below = sum(math.exp(float(z[i, k] @ z[a, other]) / tau) for a in range(4))
                total += math.log(math.exp(float(z[i, k] @ z[i, other]) / tau) / below) / 4
    assert_close(infomin(z, temperature=tau).item(), total)


def test_orthogonality_by_hand() -> None:
    """One pair: z0 along x in both views; z1 along x in the first view and along y in the second. Of the two choices
    of j one has a cosine of 1 and one of 0, on average over i: 1, for each of the two orders of the parts."""
    x, y = torch.eye(2, dtype=torch.float64)
    first, second = torch.stack([x, x])[None], torch.stack([x, y])[None]
    assert_close(orthogonality(first, second).item(), 2.0)
    assert_close(orthogonality(first, -second).item(), 2.0)  # the sign does not count
    assert_close(orthogonality(first, second, reduction="mean").item(), 1.0)
    third = torch.stack([x, y])[None]
    assert_close(orthogonality(third, third).item(), 0.0)


def test_orthogonality_by_a_slow_rewriting() -> None:
    views, total = [parts(3, count=3), parts(3, count=3)], 0.0
    for k in range(3):
        for other in range(3):
            for i in range(3) if k != other else ():
                for a in views:
                    total += sum(abs(float(a[i, k] @ b[i, other])) for b in views) / 6
    assert_close(orthogonality(*views).item(), total)


def test_a_rotation_of_one_part_hides_from_orthogonality_and_not_from_its_permuted_form() -> None:
    """Quarter turns of the plane give a part that is orthogonal to itself: a degenerate solution."""
    z0 = F.normalize(torch.randn(500, 2, dtype=torch.float64))
    quarter = torch.stack([-z0[:, 1], z0[:, 0]], 1)
    z = torch.stack([z0, quarter], 1)
    assert orthogonality(z, z) < 1e-9
    found = torch.stack([orthogonality(z, z, permuted=True) for _ in range(20)])
    assert found.max() > 0.5  # with the two dimensions exchanged


def test_both_forms_do_not_change_when_all_parts_are_turned_together() -> None:
    z1, z2, rotation = parts(6), parts(6), turn(4)
    assert_close(orthogonality(z1 @ rotation, z2 @ rotation), orthogonality(z1, z2))


def test_the_order_is_drawn_anew_from_the_default_generator() -> None:
    z1, z2 = parts(6, size=8), parts(6, size=8)
    torch.manual_seed(5)
    first, second = (orthogonality(z1, z2, permuted=True) for _ in range(2))
    torch.manual_seed(5)
    again = orthogonality(z1, z2, permuted=True)
    assert_close(first, again, rtol=0, atol=0)
    assert first != second
    torch.manual_seed(5)
    order = torch.rand(8).argsort()
    total = 0.0
    for k, other in ((0, 1), (1, 0)):
        for a in (z1, z2):
            for b in (z1, z2):
                total += (a[:, k, order] * b[:, other]).sum(1).abs().mean().item() / 2
    assert_close(first.item(), total)


@pytest.mark.parametrize("count", [2, 3])
def test_blocks_are_those_of_the_outer_product(count: int) -> None:
    """The explicit matrix g gᵀ of each row; the norm of what is above its diagonal blocks."""
    gradient = torch.randn(5, count, 4, dtype=torch.float64)
    expected = 0.0
    for row in gradient:
        matrix = torch.outer(row.flatten(), row.flatten())
        blocks = matrix.view(count, 4, count, 4)
        squares = [blocks[k, :, m].square().sum() for k in range(count) for m in range(k + 1, count)]
        expected += math.sqrt(sum(squares)) / 5
    assert_close(hessian_blocks(gradient).item(), expected)


def test_blocks_by_hand_and_at_zero() -> None:
    """|g0| = 5 and |g1| = 2: 10. A part without gradient leaves only ε, and no NaN."""
    g = torch.tensor([[[3.0, 4.0], [0.0, 2.0]]], dtype=torch.float64, requires_grad=True)
    assert_close(hessian_blocks(g).item(), 10.0)
    zero = torch.zeros(1, 2, 2, dtype=torch.float64, requires_grad=True)
    value = hessian_blocks(zero)
    assert value.item() == pytest.approx(1e-6)
    assert torch.autograd.grad(value, zero)[0].isfinite().all()


def test_blocks_do_not_change_when_a_part_is_turned() -> None:
    gradient = torch.randn(5, 2, 4, dtype=torch.float64)
    turned = torch.stack([gradient[:, 0] @ turn(4), gradient[:, 1] @ turn(4)], 1)
    assert_close(hessian_blocks(turned), hessian_blocks(gradient))


def test_unit_subembeddings_are_consecutive_and_of_length_1() -> None:
    codes = torch.tensor([[3.0, 4.0, 0.0, -2.0]])
    assert_close(unit_subembeddings(codes, 2), torch.tensor([[[0.6, 0.8], [0.0, -1.0]]]))
