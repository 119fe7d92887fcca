"""iVAE. Khemakhem et al., 2020, Variational Autoencoders and Nonlinear ICA: A Unifying Framework, arXiv:1907.04809."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import BuildSpec
from unbraid.methods.nuisances import concat_nuisances, one_hot
from unbraid.methods.predictor import labels_of
from unbraid.objectives import Bernoulli, Likelihood, kl
from unbraid.types import Batch, Codes, Gaussian, Labels, Observations, Terms


class IVAE(Autoencoder[Batch]):
    r"""VAE with a learned factorial Gaussian prior for each value of an auxiliary variable u, here the label.

    .. math:: L = -E_{q(z|x, u)}[\log p(x|z)] + KL(q(z|x, u) \| p(z|u))

    Args:
        encoder: Network from observations and one-hot labels, concatenated, to q(z|x, u); needs an attribute
            `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        classes: Number of values of u.
        likelihood: Likelihood p(x|z): bernoulli, or normal:SIGMA.
    """

    conditions_on = "labels"

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
                f"iVAE requires a label with at least 2 classes as its auxiliary variable; got {classes}. Use a "
                "dataset with labels."
            )
        self.classes = classes
        self.mean = nn.Parameter(torch.zeros(classes, self.strands.size))  # of p(z|u), as the log-variance
        self.logvar = nn.Parameter(torch.zeros(classes, self.strands.size))

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing, settings)
        if "encoder" in missing:
            wide = (spec.shape[0] + spec.classes, *spec.shape[1:])
            arguments |= {
                "encoder": super().default_arguments(spec._replace(shape=wide), {"encoder"}, {})["encoder"]
            }
        return arguments

    def loss(self, batch: Batch) -> Terms:
        u = labels_of(batch)
        q = self.posterior(batch.x, u)
        nll = self.likelihood.nll(self.decoder(q.sample()).to(batch.x.dtype), batch.x)
        divergence = kl(q, Gaussian(self.mean[u], self.logvar[u])).sum(1).mean()
        return Terms(nll + divergence, {"nll": nll, "kl": divergence})

    def posterior(self, x: Observations, labels: Labels | None = None) -> Gaussian:
        """q(z|x, u); a missing u is replaced by the zero vector."""
        u = x.new_zeros(len(x), self.classes) if labels is None else one_hot(labels, self.classes).to(x.dtype)
        return super().posterior(concat_nuisances(x, u))

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.posterior(x, condition).mean

    def sample_prior(self, size: int) -> Codes:
        """Codes from the priors of random labels."""
        u = torch.randint(self.classes, (size,), device=self.mean.device)
        return Gaussian(self.mean[u], self.logvar[u]).sample()
