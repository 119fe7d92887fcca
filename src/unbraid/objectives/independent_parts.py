"""Directions of an embedding in which its classes fall into independent parts, found when it is trained.

Independent subspaces: Hyvärinen & Hoyer, 2000, Emergence of Phase- and Shift-Invariant Features by Decomposition of
Natural Images into Independent Feature Subspaces. Here of classes, not of samples, and by a kernel's dependence.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.objectives.dependence import dependence

SHRINKAGE = 1e-4  # of the spread within classes, so that it can be inverted
RATE = 0.05


class Directions(NamedTuple):
    """Codes are to be taken from the centre and multiplied by the matrix."""

    centre: Float[Tensor, " e"]
    matrix: Float[Tensor, "e p"]
    dependence: float  # between the parts, over the means of classes


def independent_parts(
    codes: Float[Tensor, "n e"],
    classes: Int[Tensor, " n"],
    *,
    parts: int,
    directions: int,
    seed: int = 0,
    restarts: int = 32,  # with 8, one embedding of four ended in a dependence that was not the least
    steps: int = 300,
) -> Directions:
    r"""Parts of some directions each, between which the means of the classes are as independent as can be.

    Where a class is a combination of factors, such as a digit and a background, and each adds its own to the mean,
    there are directions that one factor alone moves. Nothing needs to be known of the factors but that a class is one
    of their combinations: of all ways to cut the space that the means lie in, theirs is the one with independent
    parts. Codes are first whitened within classes, then the means of the classes, in the directions in which they
    differ most; a rotation of those is found by descent on :func:`dependence` from several beginnings, and the
    best is taken.

    Args:
        codes: Embeddings; some hundred of each class.
        classes: Numbers of combinations, in any order.
        parts: How many.
        directions: Of each part.
        seed: Of the beginnings.
        restarts: How many beginnings.
        steps: Of each descent.
    """
    codes = codes.detach().to("cpu", torch.float64)
    _, place, sizes = torch.unique(classes.cpu(), return_inverse=True, return_counts=True)
    size = parts * directions
    if size > codes.shape[1] or size >= len(sizes):
        raise ValueError(
            f"{parts} parts of {directions} directions need an embedding of at least {size} dimensions and more than "
            f"{size} classes; got {codes.shape[1]} and {len(sizes)}."
        )
    means = torch.zeros(len(sizes), codes.shape[1], dtype=codes.dtype).index_add_(0, place, codes)
    means /= sizes[:, None]
    within = torch.cov((codes - means[place]).T, correction=0)
    within += SHRINKAGE * within.diagonal().mean() * torch.eye(len(within), dtype=codes.dtype)
    whiten = torch.linalg.cholesky(torch.linalg.inv(within))
    centre = means.mean(0)
    _, spread, axes = torch.linalg.svd((means - centre) @ whiten, full_matrices=False)
    chosen = whiten @ axes[:size].T * (len(sizes) ** 0.5 / spread[:size])
    turn, left = _turn((means - centre) @ chosen, parts, seed=seed, restarts=restarts, steps=steps)
    return Directions(centre, chosen @ turn, left)


def _turn(
    means: Float[Tensor, "c p"], parts: int, *, seed: int, restarts: int, steps: int
) -> tuple[Float[Tensor, "p p"], float]:
    """The rotation of white means that leaves the least dependence between equal parts, and how much that is."""
    generator, found = Generator().manual_seed(seed), []
    width = (means.shape[1] / parts) ** 0.5  # distances grow with the dimensions of a part
    for _ in range(restarts):
        free = torch.randn(means.shape[1], means.shape[1], generator=generator, dtype=means.dtype)
        free.requires_grad_()
        rule = torch.optim.Adam([free], RATE)
        slowing = torch.optim.lr_scheduler.CosineAnnealingLR(rule, steps)
        for _ in range(steps):
            with torch.enable_grad():
                turn, _ = torch.linalg.qr(free)
                loss = dependence((means @ turn).unflatten(1, (parts, -1)), width=width)
            (free.grad,) = torch.autograd.grad(loss, [free])
            rule.step()
            slowing.step()
        turn, _ = torch.linalg.qr(free.detach())
        found.append((dependence((means @ turn).unflatten(1, (parts, -1)), width=width).item(), turn))
    least, turn = min(found, key=lambda entry: entry[0])
    return turn, least
