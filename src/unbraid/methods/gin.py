"""GIN. Sorrenson et al., 2020, Disentanglement by Nonlinear ICA with General Incompressible-Flow Networks (GIN),
arXiv:2001.04872."""

from typing import Literal

import torch
from torch import Tensor, nn

from unbraid.distributed import gather
from unbraid.methods.flow import FlowMethod
from unbraid.objectives import class_moments, factorial_nll
from unbraid.schedules import Schedule
from unbraid.types import Batch, Labels, Terms

Moments = Literal["batch", "learned"]


class GIN(FlowMethod[Batch]):
    r"""A volume-preserving flow in whose code each class is a factorial Gaussian.

    .. math:: L = E_{(x, u)} \sum_i \frac{(z_i(x) - μ_i(u))^2}{2 σ_i^2(u)} + \log σ_i(u)

    Args:
        flow: Observations to codes, invertible and volume-preserving; needs `codes` and `inverse`.
        classes: The number of values of the label u.
        noise: The spread of Gaussian noise on each observation, redrawn at each step.
        cooling: The noise by step, in the place of `noise`, such as geometric:0.5:0.01:500: wide noise at first
            keeps the flow from settling in a bent code.
        floor: The least σ; 0 for none.
        moments: Where μ and σ come from: the classes' codes in the `batch`, or `learned` with the flow.
    """

    log_sigma: Tensor

    def __init__(
        self,
        flow: nn.Module,
        *,
        classes: int,
        noise: float = 0.01,
        cooling: Schedule | None = None,
        floor: float = 1e-4,
        moments: Moments = "batch",
    ) -> None:
        super().__init__(flow, noise, cooling, floor)
        if classes < 2:
            raise ValueError(
                f"GIN learns from the classes of the observations and needs at least 2; got {classes}: use data with "
                "labels, or augmented-gin."
            )
        self.classes, self.moments = classes, moments
        start = torch.zeros(classes, len(self.spread))
        if moments == "learned":
            self.mu, self.log_sigma = nn.Parameter(start), nn.Parameter(start.clone())

    def loss(self, batch: Batch) -> Terms:
        labels = self._labels(batch)
        x = self.noisy(batch.x)
        z = self.flow(x).to(x.dtype)
        if self.moments == "batch":  # of all processes' codes together
            z, labels = gather(z), gather(labels)
            mu, sigma = class_moments(z, labels, self.classes, floor=self.floor)
        else:
            mu, sigma = self.mu, self.log_sigma.exp().clamp(min=self.floor)
        nll = factorial_nll(z, mu[labels], sigma[labels])
        return Terms(nll, {"nll": nll})

    def _labels(self, batch: Batch) -> Labels:
        if batch.labels is None:
            raise ValueError("GIN learns from classes, and the batch has no labels: use data with labels.")
        return batch.labels
