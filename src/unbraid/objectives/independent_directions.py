"""Linear directions of a trained embedding in which the class means split into independent subembeddings.

Independent subspaces: Hyvärinen & Hoyer, 2000, Emergence of Phase- and Shift-Invariant Features by Decomposition of
Natural Images into Independent Feature Subspaces. Here for class means, not samples, with a kernel dependence.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from unbraid.objectives.dependence import dependence

SHRINKAGE = 1e-4  # of the covariance within classes, so that it is invertible
LEARNING_RATE = 0.05


class Directions(NamedTuple):
    """A projection of codes: subtract the center, then multiply by the matrix."""

    center: Float[Tensor, " e"]
    matrix: Float[Tensor, "e p"]
    dependence: float  # between the subembeddings, over the class means


def find_independent_directions(
    codes: Float[Tensor, "n e"],
    classes: Int[Tensor, " n"],
    *,
    num_subembeddings: int,
    directions: int,
    seed: int = 0,
    restarts: int = 32,  # with 8, one embedding of four did not reach the minimum
    steps: int = 300,
) -> Directions:
    r"""Subembeddings of several directions each, chosen so that the class means are as independent as possible.

    Where a class is a combination of factors, such as a digit and a background, whose contributions to the class mean
    add up, some directions change with one factor only. The factors themselves need not be known: of all splits of the
    space of class means, the split by factor has independent subembeddings. Codes are first whitened within classes,
    then the class means in the directions of their largest variance. A rotation is then found by gradient descent on
    :func:`dependence` with several restarts, of which the best is used.

    Args:
        codes: Embeddings, about a hundred per class.
        classes: Class index of each embedding.
        num_subembeddings: Number of subembeddings.
        directions: Number of directions per subembedding.
        seed: Random seed of the restarts.
        restarts: Number of restarts.
        steps: Number of steps per restart.
    """
    codes = codes.detach().to("cpu", torch.float64)
    _, position, sizes = torch.unique(classes.cpu(), return_inverse=True, return_counts=True)
    size = num_subembeddings * directions
    if size > codes.shape[1] or size >= len(sizes):
        raise ValueError(
            f"{num_subembeddings} subembeddings of {directions} directions need an embedding of at least {size} "
            f"dimensions and more than {size} classes; got {codes.shape[1]} and {len(sizes)}."
        )
    means = torch.zeros(len(sizes), codes.shape[1], dtype=codes.dtype).index_add_(0, position, codes)
    means /= sizes[:, None]
    within = torch.cov((codes - means[position]).T, correction=0)
    within += SHRINKAGE * within.diagonal().mean() * torch.eye(len(within), dtype=codes.dtype)
    whiten = torch.linalg.cholesky(torch.linalg.inv(within))
    center = means.mean(0)
    _, singular_values, axes = torch.linalg.svd((means - center) @ whiten, full_matrices=False)
    chosen = whiten @ axes[:size].T * (len(sizes) ** 0.5 / singular_values[:size])
    rotation, smallest = _rotation(
        (means - center) @ chosen, num_subembeddings, seed=seed, restarts=restarts, steps=steps
    )
    return Directions(center, chosen @ rotation, smallest)


def _rotation(
    means: Float[Tensor, "c p"], num_subembeddings: int, *, seed: int, restarts: int, steps: int
) -> tuple[Float[Tensor, "p p"], float]:
    """The rotation of whitened means with the smallest dependence between subembeddings, and the dependence."""
    generator, results = Generator().manual_seed(seed), []
    width = (
        means.shape[1] / num_subembeddings
    ) ** 0.5  # distances grow with the dimensions of a subembedding
    for _ in range(restarts):
        free = torch.randn(means.shape[1], means.shape[1], generator=generator, dtype=means.dtype)
        free.requires_grad_()
        optimizer = torch.optim.Adam([free], LEARNING_RATE)
        lr_schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for _ in range(steps):
            with torch.enable_grad():
                rotation, _ = torch.linalg.qr(free)
                loss = dependence((means @ rotation).unflatten(1, (num_subembeddings, -1)), width=width)
            (free.grad,) = torch.autograd.grad(loss, [free])
            optimizer.step()
            lr_schedule.step()
        rotation, _ = torch.linalg.qr(free.detach())
        results.append(
            (
                dependence((means @ rotation).unflatten(1, (num_subembeddings, -1)), width=width).item(),
                rotation,
            )
        )
    smallest, rotation = min(results, key=lambda entry: entry[0])
    return rotation, smallest
