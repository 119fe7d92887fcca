"""Augmented GIN. Self-supervised Disentangled Representation Learning, 2021, under review."""

from collections.abc import Mapping, Set
from typing import Any, Literal

from torch import nn

from unbraid.methods.base import BuildSpec
from unbraid.methods.flow import FlowMethod
from unbraid.nn import MLPEncoder
from unbraid.objectives import factorial_nll, set_moments
from unbraid.schedules import Schedule
from unbraid.types import SetBatch, Terms

Moments = Literal["set", "encoder"]


class AugmentedGIN(FlowMethod[SetBatch]):
    r"""Volume-preserving flow E: the codes of one observation's augmentations follow a factorial Gaussian.

    .. math:: L = E_{(x, a)} \sum_i \frac{(E_i(a) - μ_i(x))^2}{2 σ_i^2(x)} + \log σ_i(x) \quad \text{(Eq. 7, times n)}

    The flow preserves volume, so the loss has no Jacobian term. μ and σ are the moments of the set's codes, or outputs
    of an encoder.

    Args:
        flow: Invertible, volume-preserving network from observations to codes; needs `latent_dim` and `inverse`.
        encoder: Network from an observation to the mean and log-variance of the codes of its set; only with
            `moments=encoder`.
        noise: Standard deviation of the Gaussian noise on each observation, sampled at each step.
        noise_schedule: Schedule of the noise, which replaces `noise`, such as exponential:0.5:0.01:500. Large noise at
            the start keeps the flow from converging to a curved code.
        min_sigma: Minimum of σ; 0 disables it, and the loss then has no lower bound without noise.
        moments: Source of μ and σ: `set` (from the codes of the set) or `encoder` (from the observation).
    """

    def __init__(
        self,
        flow: nn.Module,
        encoder: nn.Module | None = None,
        *,
        noise: float = 0.01,  # Sec. 4.2 and 4.3
        noise_schedule: Schedule | None = None,
        min_sigma: float = 1e-4,  # not in the paper: see the page
        moments: Moments = "set",
    ) -> None:
        super().__init__(flow, noise, noise_schedule, min_sigma)
        if (moments == "encoder") != (encoder is not None):
            raise ValueError(
                "An encoder is required with moments='encoder' and not allowed otherwise; got "
                f"moments={moments!r} and {'no encoder' if encoder is None else 'an encoder'}."
            )
        self.encoder, self.moments = encoder, moments

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing, settings)
        if settings.get("moments") == "encoder" and "encoder" in missing:
            latent_dim = (settings["flow"] if "flow" in settings else arguments["flow"]).latent_dim
            arguments["encoder"] = MLPEncoder(spec.shape, latent_dim, hidden=(128, 128))
        return arguments

    def loss(self, batch: SetBatch) -> Terms:
        a = self.noisy(batch.x.flatten(0, 1))
        z = self.flow(a).to(a.dtype).unflatten(0, batch.x.shape[:2])  # E(a), by sets
        if self.encoder is None:
            mu, sigma = set_moments(z, floor=self.min_sigma)
        else:
            mean, logvar = self.encoder(batch.x[:, 0])  # the first of a set is the observation itself
            mu = mean[:, None].to(a.dtype)
            sigma = (0.5 * logvar[:, None].to(a.dtype)).exp().clamp(min=self.min_sigma)
        nll = factorial_nll(z, mu, sigma)
        return Terms(nll, {"nll": nll})
