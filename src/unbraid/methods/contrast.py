"""What the methods here share that learn from target and background: strands common and salient, and Eq. 3 of
Towards Principled Objectives for Contrastive Disentanglement, 2020."""

from collections.abc import Mapping, Set
from typing import Any, NamedTuple

import torch
from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import Facts
from unbraid.nn import Layered, networks
from unbraid.objectives import Likelihood, kl_to_standard_normal, squared_w2
from unbraid.objectives.assignment import ON_HOST
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, ContrastBatch, Gaussian, Scalar


class Evidence(NamedTuple):
    """The terms of Eq. 3 on one batch, with the posteriors and codes of target x and background y behind them."""

    q_x: Gaussian
    q_y: Gaussian
    c_x: Codes  # drawn from q_x, common and salient
    c_y: Codes  # drawn from q_y; its salient part was not decoded
    nll_x: Scalar
    nll_y: Scalar
    kl_x: Scalar  # common and salient
    kl_y: Scalar  # common alone

    def bound(self, beta: float | Scalar) -> Scalar:
        """L_VAE with weighted divergences: for an image of the target and one of the background together."""
        return self.nll_x + self.nll_y + beta * (self.kl_x + self.kl_y)

    @property
    def parts(self) -> dict[str, Scalar]:
        return {
            "nll": self.nll_x,
            "nll_background": self.nll_y,
            "kl": self.kl_x,
            "kl_background": self.kl_y,
        }


class ContrastAutoencoder(Autoencoder[ContrastBatch]):
    """One encoder and one decoder for both; the background is decoded with its salient codes at zero."""

    sizes_strands = True

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        common, salient = (cls.setting(settings, strand) for strand in ("common", "salient"))
        parts = super().parts(facts._replace(codes=common + salient), wanted, settings)
        if "decoder" in wanted and (layers := cls.setting(settings, "layers")):
            under, over = (networks(layers, facts.shape, codes)[1] for codes in (common, salient))
            parts["decoder"] = Layered(under, over, common=common, salient=salient)
        return parts

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        common: int,
        salient: int,
        beta: float,
        warm_up: Schedule | None,
        likelihood: Likelihood,
        log_w2: bool = False,
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(beta=beta)
        self.beta, self.warm_up = beta, warm_up
        self.log_w2 = log_w2
        if log_w2:
            self.not_captured = ON_HOST  # type: ignore[misc]
        if common < 1 or salient < 1 or common + salient != self.strands.size:
            raise ValueError(
                "The strands common and salient need at least 1 code each, and together as many as the encoder has; "
                f"got {common} and {salient} of {self.strands.size}."
            )
        self._strands = Strands.cut(common=common, salient=salient, default="salient")

    @property
    def kl_weight(self) -> float | Scalar:
        """The weight of the KL divergences in this step."""
        return self.beta if self.warm_up is None else self.beta * self.warm_up(self.step)

    def part(self, q: Gaussian, strand: str) -> Gaussian:
        """The posterior of one strand."""
        return Gaussian(self.strands.take(q.mean, strand), self.strands.take(q.logvar, strand))

    def reference(self, codes: Codes) -> Codes:
        """The codes as they are decoded for the background: salient ones at zero."""
        return self.strands.zero(codes, "salient")

    def watched(self, evidence: Evidence) -> dict[str, Scalar]:
        """What is logged and not minimised: how far apart the common codes of both are, where that was asked for."""
        if not self.log_w2:
            return {}
        z_t, z_b = (self.strands.take(codes, "common").detach() for codes in (evidence.c_x, evidence.c_y))
        return {"w2": squared_w2(z_t, z_b)}

    def evidence(self, batch: ContrastBatch) -> Evidence:
        """Eq. 3, term by term; target and background go through the networks joined."""
        x, y = batch.target, batch.background
        q_x, q_y = self.posteriors(x, y)
        c_x, c_y = q_x.sample(), q_y.sample()
        decoded_x, decoded_y = self.decoder(torch.cat([c_x, self.reference(c_y)])).chunk(2)
        return Evidence(
            *(q_x, q_y, c_x, c_y),
            nll_x=self.likelihood.nll(decoded_x, x),
            nll_y=self.likelihood.nll(decoded_y, y),
            kl_x=kl_to_standard_normal(q_x),
            kl_y=kl_to_standard_normal(self.part(q_y, "common")),
        )
