"""GIN. Sorrenson et al., 2020, Disentanglement by Nonlinear ICA with General Incompressible-Flow Networks (GIN),
arXiv:2001.04872."""

from typing import Literal

import torch
from torch import Tensor, nn

from unbraid.distributed import all_gather
from unbraid.methods.flow import FlowMethod
from unbraid.objectives import class_moments, factorial_nll
from unbraid.schedules import Schedule
from unbraid.types import Batch, Labels, Terms

Moments = Literal["batch", "learned"]


class GIN(FlowMethod[Batch]):
    r"""Volume-preserving flow: the codes of each class follow a factorial Gaussian.

    .. math:: L = E_{(x, u)} \sum_i \frac{(z_i(x) - μ_i(u))^2}{2 σ_i^2(u)} + \log σ_i(u)

    Args:
        flow: Invertible, volume-preserving network from observations to codes; needs `latent_dim` and `inverse`.
        classes: Number of values of the label u.
        noise: Standard deviation of the Gaussian noise on each observation, sampled at each step.
        noise_schedule: Schedule of the noise, which replaces `noise`, such as exponential:0.5:0.01:500. Large noise at
            the start keeps the flow from converging to a curved code.
        min_sigma: Minimum of σ; 0 disables it.
        moments: Source of μ and σ: `batch` (from the codes of each class in the batch) or `learned` (parameters).
    """

    log_sigma: Tensor

    def __init__(
        self,
        flow: nn.Module,
        *,
        classes: int,
        noise: float = 0.01,
        noise_schedule: Schedule | None = None,
        min_sigma: float = 1e-4,
        moments: Moments = "batch",
    ) -> None:
        super().__init__(flow, noise, noise_schedule, min_sigma)
        if classes < 2:
            raise ValueError(
                f"GIN requires a label with at least 2 classes; got {classes}. Use a dataset with labels, or "
                "augmented-gin."
            )
        self.classes, self.moments = classes, moments
        zeros = torch.zeros(classes, len(self.std))
        if moments == "learned":
            self.mu, self.log_sigma = nn.Parameter(zeros), nn.Parameter(zeros.clone())

    def loss(self, batch: Batch) -> Terms:
        labels = self._labels(batch)
        x = self.noisy(batch.x)
        z = self.flow(x).to(x.dtype)
        if self.moments == "batch":  # moments of the global batch
            z, labels = all_gather(z), all_gather(labels)
            mu, sigma = class_moments(z, labels, self.classes, floor=self.min_sigma)
        else:
            mu, sigma = self.mu, self.log_sigma.exp().clamp(min=self.min_sigma)
        nll = factorial_nll(z, mu[labels], sigma[labels])
        return Terms(nll, {"nll": nll})

    def _labels(self, batch: Batch) -> Labels:
        if batch.labels is None:
            raise ValueError("GIN requires labels, and the batch has none. Use a dataset with labels.")
        return batch.labels
