"""Base of the methods that train on a target and a background dataset: strands `common` and `salient`, the terms of
Eq. 3 of Towards Principled Objectives for Contrastive Disentanglement, 2020, and the options that these methods share.
"""

from collections.abc import Callable, Mapping, Set
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, get_args

import torch
from torch import Tensor, nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import BuildSpec
from unbraid.nn import (
    OverlayDecoder,
    background_batch_stats,
    build_networks,
    separate_background_stats,
    split_overlay,
)
from unbraid.objectives import ON_HOST, Likelihood, Pixels, kl_to_standard_normal, squared_w2
from unbraid.options import with_arguments_of
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, ContrastBatch, Gaussian, Observations, Scalar

C = TypeVar("C", bound="ContrastAutoencoder")
BatchStats = Literal["joint", "separate"]


class ELBOTerms(NamedTuple):
    """The terms of Eq. 3 on one batch, with the posteriors and codes of target x and background y."""

    q_x: Gaussian
    q_y: Gaussian
    c_x: Codes  # sampled from q_x, common and salient
    c_y: Codes  # sampled from q_y; the decoder does not get its salient strand
    nll_x: Scalar
    nll_y: Scalar
    kl_x: Scalar  # common and salient
    kl_y: Scalar  # common alone

    def bound(self, beta: float | Scalar) -> Scalar:
        """L_VAE with weighted divergences, for one target image and one background image together."""
        return self.nll_x + self.nll_y + beta * (self.kl_x + self.kl_y)

    @property
    def by_name(self) -> dict[str, Scalar]:
        return {
            "nll": self.nll_x,
            "nll_background": self.nll_y,
            "kl": self.kl_x,
            "kl_background": self.kl_y,
        }


class ContrastOptions(TypedDict, total=False):
    """Options that every method of this family shares."""

    common_dim: int
    salient_dim: int
    beta_schedule: Schedule | None
    likelihood: Likelihood
    batch_stats: BatchStats


class LoggedContrastOptions(ContrastOptions, total=False):
    """Shared options of the methods that do not minimize the W2 distance."""

    log_w2: bool


class ContrastAutoencoder(Autoencoder[ContrastBatch]):
    """One encoder and one decoder for target and background; the background's salient strand is zero when decoded.

    Args:
        encoder: Network from observations to the posterior q(z, s|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z, s).
        beta: Weight of the KL divergences.
        common_dim: Number of dimensions of the common strand z, which describes both datasets.
        salient_dim: Number of dimensions of the salient strand s, which describes the target only.
        beta_schedule: Schedule that multiplies beta, such as linear:0:1:10000, so that the code carries information
            before the KL term penalizes it.
        likelihood: Likelihood p(x|z, s): pixels:SIGMA, bernoulli, or normal:SIGMA for rows.
        batch_stats: Statistics of batch normalization: joint (one batch of target and background) or separate (one
            batch each, with running statistics of their own). Codes of new observations use those of the target.
        log_w2: Whether to log the W2 distance between the common codes of target and background; the distance is not
            minimized.
    """

    family = "Target and background"
    code_size_options = ("common_dim", "salient_dim")

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        common, salient = (cls.option(settings, name) for name in ("common_dim", "salient_dim"))
        name, overlay_name = split_overlay(spec.architecture)
        spec = spec._replace(latent_dim=common + salient, architecture=name)
        arguments = super().default_arguments(spec, missing, settings)
        if "decoder" in missing and overlay_name:
            base, overlay = (build_networks(overlay_name, spec.shape, size)[1] for size in (common, salient))
            arguments["decoder"] = OverlayDecoder(base, overlay, common=common, salient=salient)
        return arguments

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        beta: float,
        common_dim: int = 16,  # App. A.3, as its sentence says; its formula has 8 and 4
        salient_dim: int = 8,
        beta_schedule: Schedule | None = None,
        likelihood: Likelihood = Pixels(),
        batch_stats: BatchStats = "joint",
        log_w2: bool = False,
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(beta=beta)
        self.batch_stats = batch_stats
        if batch_stats == "separate" and not separate_background_stats(encoder, decoder):
            raise ValueError(
                "--batch-stats separate requires networks with batch normalization, and these have none. Choose "
                "--architecture conv-contrast, or leave --batch-stats out."
            )
        self.beta, self.beta_schedule = beta, beta_schedule
        self.log_w2 = log_w2
        if common_dim < 1 or salient_dim < 1 or common_dim + salient_dim != self.strands.size:
            raise ValueError(
                "--common-dim and --salient-dim must each be at least 1 and add up to the latent_dim of the encoder; "
                f"got {common_dim} and {salient_dim} for a latent_dim of {self.strands.size}."
            )
        self._strands = Strands.from_sizes(common=common_dim, salient=salient_dim, default="salient")

    @property
    def kl_weight(self) -> float | Scalar:
        """The weight of the KL divergences at the current step."""
        return self.beta if self.beta_schedule is None else self.beta * self.beta_schedule(self.step)

    def cuda_graph_unsupported(self, dataset: object) -> str | None:
        """Why steps cannot be captured as a CUDA graph: the W2 distance is computed on the host."""
        return ON_HOST if self.log_w2 else None

    def strand_posterior(self, q: Gaussian, strand: str) -> Gaussian:
        """The posterior of one strand."""
        return Gaussian(self.strands.take(q.mean, strand), self.strands.take(q.logvar, strand))

    def background_codes(self, codes: Codes) -> Codes:
        """The codes that the decoder gets for the background: the salient strand is zero."""
        return self.strands.zero(codes, "salient")

    def extra_logs(self, elbo: ELBOTerms) -> dict[str, Scalar]:
        """Values that are logged and not minimized: with `log_w2`, the distance between the common codes."""
        if not self.log_w2:
            return {}
        z_t, z_b = (self.strands.take(codes, "common").detach() for codes in (elbo.c_x, elbo.c_y))
        return {"w2": squared_w2(z_t, z_b)}

    def apply_to_both(
        self, network: Callable[[Tensor], Tensor], x: Tensor, y: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The outputs for target and background, in one batch or with separate batch statistics."""
        if self.batch_stats == "joint":
            of_x, of_y = network(torch.cat([x, y])).chunk(2)
            return of_x, of_y
        of_x = network(x)
        with background_batch_stats(self.encoder, self.decoder):
            return of_x, network(y)

    def posteriors(self, x1: Observations, x2: Observations) -> tuple[Gaussian, Gaussian]:
        """The posteriors of target and background, in one batch or with separate batch statistics."""
        if self.batch_stats == "joint":
            return super().posteriors(x1, x2)
        q_x = self.posterior(x1)
        with background_batch_stats(self.encoder):
            return q_x, self.posterior(x2)

    def elbo_terms(self, batch: ContrastBatch) -> ELBOTerms:
        """Eq. 3, term by term."""
        x, y = batch.target, batch.background
        q_x, q_y = self.posteriors(x, y)
        c_x, c_y = q_x.sample(), q_y.sample()
        decoded_x, decoded_y = self.apply_to_both(self.decoder, c_x, self.background_codes(c_y))
        return ELBOTerms(
            *(q_x, q_y, c_x, c_y),
            nll_x=self.likelihood.nll(decoded_x, x),
            nll_y=self.likelihood.nll(decoded_y, y),
            kl_x=kl_to_standard_normal(q_x),
            kl_y=kl_to_standard_normal(self.strand_posterior(q_y, "common")),
        )


def with_shared_options(cls: type[C]) -> type[C]:
    """Class decorator for a constructor that ends in `**options: Unpack[SomeOptions]`.

    The options that `SomeOptions` lists get their defaults and help from `ContrastAutoencoder`.
    """
    (options,) = get_args(cls.__init__.__annotations__["options"])
    return with_arguments_of(ContrastAutoencoder, options.__annotations__)(cls)
