"""Ground-truth latents of generated observations."""

import copy
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Latents:
    """The latents of each row, the network that generated the rows, and how rows are augmented.

    Args:
        values: Latents of each row, the inputs of the network.
        network: Maps latents to observations.
        axes: Directions of the informative latents, unit vectors as rows; the rest is noise.
        directions: Directions of augmentation, unit vectors as rows.
        stds: Standard deviation of the Gaussian step of each row along each direction.
        seed: Random seed for augmentation steps that are sampled once, before training.
    """

    values: Float[Tensor, "n l"]
    network: nn.Module
    axes: Float[Tensor, "i l"]
    directions: Float[Tensor, "a l"]
    stds: Float[Tensor, "n a"]
    seed: int = 0

    def informative(self, rows: Int[Tensor, " b"]) -> Float[Tensor, "b i"]:
        """The informative latents of the rows."""
        return self.values[rows] @ self.axes.t()

    @torch.no_grad()
    def augmented(self, rows: Int[Tensor, " b"], steps: Float[Tensor, "b m a"]) -> Float[Tensor, "b m f"]:
        """Observations of the rows' latents after standard normal steps, times the rows' standard deviations."""
        shifted = self.values[rows][:, None] + steps * self.stds[rows][:, None] @ self.directions
        return self.network(shifted.flatten(0, 1)).unflatten(0, steps.shape[:2])

    def subset(self, rows: Int[Tensor, " n"]) -> "Latents":
        """The latents of some rows, which become rows 0, 1, …"""
        return replace(self, values=self.values[rows], stds=self.stds[rows])

    def to(self, device: torch.device | str) -> "Latents":
        """The latents on a device."""
        if self.values.device == torch.device(device):
            return self
        # A copy, because nn.Module.to works in place, and other objects may use the network.
        network = copy.deepcopy(self.network).to(device)
        names = ("values", "axes", "directions", "stds")
        return replace(self, network=network, **{name: getattr(self, name).to(device) for name in names})
