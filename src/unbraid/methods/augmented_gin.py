"""Augmented GIN. Self-supervised Disentangled Representation Learning, 2021, under review."""

from collections.abc import Mapping, Set
from typing import Any, Literal

from torch import nn

from unbraid.methods.base import Facts
from unbraid.methods.flow import FlowMethod
from unbraid.nn import MLPEncoder
from unbraid.objectives import factorial_nll, set_moments
from unbraid.schedules import Schedule
from unbraid.types import SetBatch, Terms

Moments = Literal["set", "encoder"]


class AugmentedGIN(FlowMethod[SetBatch]):
    r"""A volume-preserving flow E in whose code the augmentations of each observation are a factorial Gaussian.

    .. math:: L = E_{(x, a)} \sum_i \frac{(E_i(a) - μ_i(x))^2}{2 σ_i^2(x)} + \log σ_i(x) \quad \text{(Eq. 7, times n)}

    The flow preserves volume, so there is no Jacobian's term. μ and σ are those of the set's own codes, or an
    encoder's.

    Args:
        flow: Observations to codes, invertible and volume-preserving; needs `codes` and `inverse`.
        encoder: Observations to the mean and log-variance of their set's codes; only with moments from it.
        noise: The spread of Gaussian noise on each observation, redrawn at each step.
        cooling: The noise by step, in the place of `noise`, such as geometric:0.5:0.01:500: wide noise at first
            keeps the flow from settling in a bent code.
        floor: The least σ; 0 for none, and then the loss has no lower bound without noise.
        moments: Where μ and σ come from: `set`, or an `encoder` of the observation.
    """

    def __init__(
        self,
        flow: nn.Module,
        encoder: nn.Module | None = None,
        *,
        noise: float = 0.01,  # Sec. 4.2 and 4.3
        cooling: Schedule | None = None,
        floor: float = 1e-4,  # not in the paper: see the page
        moments: Moments = "set",
    ) -> None:
        super().__init__(flow, noise, cooling, floor)
        if (moments == "encoder") != (encoder is not None):
            raise ValueError(
                f"An encoder of the sets goes with moments='encoder' and with nothing else; got moments={moments!r} "
                f"and {'no encoder' if encoder is None else 'an encoder'}."
            )
        self.encoder, self.moments = encoder, moments

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts, wanted, settings)
        if settings.get("moments") == "encoder" and "encoder" in wanted:
            codes = settings["flow"].codes if "flow" in settings else parts["flow"].codes
            parts["encoder"] = MLPEncoder(facts.shape, codes, hidden=(128, 128))
        return parts

    def loss(self, batch: SetBatch) -> Terms:
        a = self.noisy(batch.x.flatten(0, 1))
        z = self.flow(a).to(a.dtype).unflatten(0, batch.x.shape[:2])  # E(a), by sets
        if self.encoder is None:
            mu, sigma = set_moments(z, floor=self.floor)
        else:
            mean, logvar = self.encoder(batch.x[:, 0])  # the first of a set is the observation itself
            mu = mean[:, None].to(a.dtype)
            sigma = (0.5 * logvar[:, None].to(a.dtype)).exp().clamp(min=self.floor)
        nll = factorial_nll(z, mu, sigma)
        return Terms(nll, {"nll": nll})
