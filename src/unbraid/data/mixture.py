"""Artificial data of Sorrenson et al., 2020, arXiv:2001.04872, Sec. 4.1: two latents behind ten columns."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.latents import Latents
from unbraid.nn.flows import RowFlow
from unbraid.seeds import derive

Spreads = Literal["constant", "varying"]
COMPONENTS, POINTS = 5, 2000  # Gaussians, and points of each
INFORMATIVE, LATENTS = 2, 10
NOISE = 0.01  # the spread of the other latents
VARYING = (1 / 3, 1.0)  # the range of spreads that vary, drawn evenly on a logarithmic scale


def mixture(
    *, trial: int = 0, along: tuple[int, ...] = (0, 1), spreads: Spreads = "constant", turn: float = 0.0
) -> Dataset:
    """Two latents from a mixture of five Gaussians, with eight of noise, through a random RealNVP.

    Args:
        trial: Which one: each has Gaussians, points and a network of its own.
        along: The latents along which points are augmented, 0 to 9; the first two are informative.
        spreads: Of the augmentation: `constant`, 1 everywhere, or `varying`, for each point and latent another one
            between 1/3 and 1, which is what tells the axes apart.
        turn: The angle in degrees by which the two informative latents are turned before the network. It does not
            show in augmentations of constant spread along both, so they cannot tell by which angle.
    """
    if not along or len(set(along)) < len(along) or not all(0 <= latent < LATENTS for latent in along):
        raise ValueError(
            f"Points are augmented along different latents from 0 to {LATENTS - 1}; got {along}."
        )
    if spreads not in get_args(Spreads):
        raise ValueError(f"There are no spreads {spreads!r}: choose {' or '.join(get_args(Spreads))}.")
    generator = Generator().manual_seed(derive(trial, "mixture"))
    means = 10 * torch.rand(COMPONENTS, INFORMATIVE, generator=generator) - 5
    # The published code draws spreads from [0.5, 3], the papers say variances.
    deviations = 0.5 + 2.5 * torch.rand(COMPONENTS, INFORMATIVE, generator=generator)
    component = torch.arange(COMPONENTS).repeat_interleave(POINTS)
    deviation = torch.full((len(component), LATENTS), NOISE)
    deviation[:, :INFORMATIVE] = deviations[component]
    values = deviation * torch.randn(len(component), LATENTS, generator=generator)
    values[:, :INFORMATIVE] += means[component]
    steps = torch.ones(len(component), len(along))
    if spreads == "varying":
        low, high = map(math.log, VARYING)
        steps = (low + (high - low) * torch.rand(steps.shape, generator=generator)).exp()
    basis = _turned(turn)
    with _one_thread(), torch.no_grad():
        latents = Latents(
            values=values @ basis,
            network=_network(trial),
            axes=basis[:INFORMATIVE],
            directions=basis[list(along)],
            spreads=steps,
            seed=derive(trial, "sets"),
        )
        rows = latents.network(latents.values)
    return Dataset(
        rows,
        name="mixture",
        white=1,
        space=FactorSpace({"component": COMPONENTS}),
        combinations=component,
        label="component",
        latents=latents,
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums come out the same to the last bit, however many threads there are: a run knows its data again."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _turned(degrees: float) -> Float[Tensor, "l l"]:
    """The direction of each latent, the first two turned against the rest."""
    basis, angle = torch.eye(LATENTS), math.radians(degrees)
    basis[0, 0] = basis[1, 1] = math.cos(angle)
    basis[0, 1], basis[1, 0] = math.sin(angle), -math.sin(angle)
    return basis


def _network(trial: int) -> RowFlow:
    """RealNVP with PyTorch's default weights, the same for the same trial."""
    with torch.random.fork_rng([]):
        torch.manual_seed(derive(trial, "network"))
        network = RowFlow((LATENTS,), volume_preserving=False, identity=False)
    return network.requires_grad_(False)
