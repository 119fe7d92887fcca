"""iVAE. Khemakhem et al., 2020, Variational Autoencoders and Nonlinear ICA: A Unifying Framework, arXiv:1907.04809."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import Facts
from unbraid.methods.nuisances import beside, one_hot
from unbraid.methods.predictor import labels_of
from unbraid.objectives import Bernoulli, Likelihood, kl
from unbraid.types import Batch, Codes, Gaussian, Labels, Observations, Terms


class IVAE(Autoencoder[Batch]):
    r"""VAE whose prior is a factorial Gaussian of its own for each value of an auxiliary variable u, here the label.

    .. math:: L = -E_{q(z|x, u)}[\log p(x|z)] + KL(q(z|x, u) \| p(z|u))

    Args:
        encoder: Observations with the one-hot label beside them to q(z|x, u); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z).
        classes: The number of values of u.
        likelihood: The family p(x|z): bernoulli, or normal:SIGMA.
    """

    auxiliary = True

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        classes: int,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        if classes < 2:
            raise ValueError(
                f"iVAE learns from an auxiliary variable, the label, and needs at least 2 values of it; got {classes}: "
                "use data with labels."
            )
        self.classes = classes
        self.mean = nn.Parameter(torch.zeros(classes, self.strands.size))  # of p(z|u), as the log-variance
        self.logvar = nn.Parameter(torch.zeros(classes, self.strands.size))

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts, wanted, settings)
        if "encoder" in wanted:
            wide = (facts.shape[0] + facts.classes, *facts.shape[1:])
            parts["encoder"] = super().parts(facts._replace(shape=wide), {"encoder"}, {})["encoder"]
        return parts

    def loss(self, batch: Batch) -> Terms:
        u = labels_of(batch)
        q = self.posterior(batch.x, u)
        nll = self.likelihood.nll(self.decoder(q.sample()).to(batch.x.dtype), batch.x)
        divergence = kl(q, Gaussian(self.mean[u], self.logvar[u])).sum(1).mean()
        return Terms(nll + divergence, {"nll": nll, "kl": divergence})

    def posterior(self, x: Observations, given: Labels | None = None) -> Gaussian:
        """q(z|x, u); without u the encoder sees the zero vector in its place."""
        u = x.new_zeros(len(x), self.classes) if given is None else one_hot(given, self.classes).to(x.dtype)
        return super().posterior(beside(x, u))

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return self.posterior(x, given).mean

    def prior(self, size: int) -> Codes:
        """A label by lot, and codes from its Gaussian."""
        u = torch.randint(self.classes, (size,), device=self.mean.device)
        return Gaussian(self.mean[u], self.logvar[u]).sample()
