"""True latents: what observations were made of, where they were made here."""

import copy
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Latents:
    """What each row was made of, the network that made it, and how rows are augmented.

    Args:
        values: What the network makes each row of.
        network: Values to observations.
        axes: The directions that are to be found again, one of length 1 in each line; the rest is noise.
        directions: Along which a row is augmented, one of length 1 in each line.
        spreads: How far each row is moved along each direction: the spread of Gaussian steps.
        seed: Of the steps, where they are drawn once for all.
    """

    values: Float[Tensor, "n l"]
    network: nn.Module
    axes: Float[Tensor, "i l"]
    directions: Float[Tensor, "a l"]
    spreads: Float[Tensor, "n a"]
    seed: int = 0

    def true(self, rows: Int[Tensor, " b"]) -> Float[Tensor, "b i"]:
        """The latents of the rows that are to be found again."""
        return self.values[rows] @ self.axes.t()

    @torch.no_grad()
    def augmented(self, rows: Int[Tensor, " b"], steps: Float[Tensor, "b m a"]) -> Float[Tensor, "b m f"]:
        """The observations of the rows' values after standard normal steps, times the rows' spreads."""
        moved = self.values[rows][:, None] + steps * self.spreads[rows][:, None] @ self.directions
        return self.network(moved.flatten(0, 1)).unflatten(0, steps.shape[:2])

    def of(self, rows: Int[Tensor, " n"]) -> "Latents":
        """Those of some rows, which become rows 0, 1, …"""
        return replace(self, values=self.values[rows], spreads=self.spreads[rows])

    def to(self, device: torch.device | str) -> "Latents":
        """The same on a device."""
        if self.values.device == torch.device(device):
            return self
        network = copy.deepcopy(self.network).to(device)  # a module moves in place, and others may hold it
        names = ("values", "axes", "directions", "spreads")
        return replace(self, network=network, **{name: getattr(self, name).to(device) for name in names})
