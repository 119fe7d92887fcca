"""Synthetic data of Sorrenson et al., 2020, arXiv:2001.04872, Sec. 4.1: ten columns with two informative latents."""

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
from unbraid.data.renderer import GENERATED
from unbraid.nn import RowFlow
from unbraid.seeds import derive_seed

AugmentationStd = Literal["constant", "varying"]
COMPONENTS, POINTS = 5, 2000  # Gaussians, and points per Gaussian
INFORMATIVE, LATENTS = 2, 10
NOISE = 0.01  # standard deviation of the other latents


def mixture(
    *,
    data_seed: int = 0,
    augmented_latents: tuple[int, ...] = (0, 1),
    augmentation_std: AugmentationStd = "constant",
    std_ratio: float = 3.0,
    rotation_degrees: float = 0.0,
) -> Dataset:
    """Two latents from a mixture of five Gaussians and eight noise latents, mapped by a random RealNVP.

    Args:
        data_seed: Random seed for the Gaussians, the points and the network.
        augmented_latents: Latents along which points are augmented, from 0 to 9; 0 and 1 are informative.
        augmentation_std: Standard deviation of the augmentation: `constant` (1), or `varying` by point and latent,
            log-uniform, which makes the axes identifiable.
        std_ratio: Largest divided by smallest standard deviation that varies; the largest is 1.
        rotation_degrees: Angle in degrees by which the two informative latents are rotated before the network.
            Augmentations of constant standard deviation along both do not depend on it.
    """
    _check_augmentation(augmented_latents, augmentation_std, std_ratio)
    generator = Generator().manual_seed(derive_seed(data_seed, "mixture"))
    means = 10 * torch.rand(COMPONENTS, INFORMATIVE, generator=generator) - 5
    # The published code draws standard deviations from [0.5, 3]; the papers say variances.
    deviations = 0.5 + 2.5 * torch.rand(COMPONENTS, INFORMATIVE, generator=generator)
    component = torch.arange(COMPONENTS).repeat_interleave(POINTS)
    deviation = torch.full((len(component), LATENTS), NOISE)
    deviation[:, :INFORMATIVE] = deviations[component]
    values = deviation * torch.randn(len(component), LATENTS, generator=generator)
    values[:, :INFORMATIVE] += means[component]
    steps = torch.ones(len(component), len(augmented_latents))
    if augmentation_std == "varying":
        low, high = math.log(1 / std_ratio), 0.0
        steps = (low + (high - low) * torch.rand(steps.shape, generator=generator)).exp()
    basis = _rotated_basis(rotation_degrees)
    with _one_thread(), torch.no_grad():
        latents = Latents(
            values=values @ basis,
            network=_network(data_seed),
            axes=basis[:INFORMATIVE],
            directions=basis[list(augmented_latents)],
            stds=steps,
            seed=derive_seed(data_seed, "sets"),
        )
        rows = latents.network(latents.values)
    return Dataset(
        rows,
        name="mixture",
        max_value=1,
        factor_space=FactorSpace({"component": COMPONENTS}),
        combinations=component,
        label="component",
        latents=latents,
        license=GENERATED,
    )


def _check_augmentation(latents: tuple[int, ...], std: str, ratio: float) -> None:
    different = len(set(latents)) == len(latents)
    if not latents or not different or not all(0 <= latent < LATENTS for latent in latents):
        raise ValueError(
            f"augmented_latents must be different latents from 0 to {LATENTS - 1}; got {latents}."
        )
    if std not in get_args(AugmentationStd):
        raise ValueError(f"augmentation_std must be {' or '.join(get_args(AugmentationStd))}; got {std!r}.")
    if not 1 <= ratio < math.inf:
        raise ValueError(f"std_ratio must be at least 1 and finite; got {ratio}.")


@contextmanager
def _one_thread() -> Iterator[None]:
    """Runs on one thread, so that sums are bit-identical and a run recognizes its data."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _rotated_basis(degrees: float) -> Float[Tensor, "l l"]:
    """The direction of each latent, the first two rotated in their plane."""
    basis, angle = torch.eye(LATENTS), math.radians(degrees)
    basis[0, 0] = basis[1, 1] = math.cos(angle)
    basis[0, 1], basis[1, 0] = math.sin(angle), -math.sin(angle)
    return basis


def _network(seed: int) -> RowFlow:
    """A RealNVP with PyTorch's default initialization, seeded."""
    with torch.random.fork_rng([]):
        torch.manual_seed(derive_seed(seed, "network"))
        network = RowFlow((LATENTS,), volume_preserving=False, identity=False)
    return network.requires_grad_(False)
