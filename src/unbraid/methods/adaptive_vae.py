"""What Ada-GVAE and Ada-ML-VAE share: the posteriors of a pair are merged in the dimensions that the pair shares."""

import abc

import torch
from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import Bernoulli, Likelihood, kl_to_standard_normal, replace_shared, shared_mask
from unbraid.settings import require_nonnegative
from unbraid.types import Gaussian, PairBatch, Terms


class AdaptiveVAE(Autoencoder[PairBatch]):
    r"""β-VAE on pairs, whose posteriors are merged in the dimensions that the two images are inferred to share.

    .. math:: L = ½ \sum_{i=1}^2 -E_{\tilde q(z|x_i)}[\log p(x_i|z)] + β KL(\tilde q(z|x_i) \| p(z))
    """

    family = "From pairs"

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        beta: float = 1.0,  # the smallest of the paper's sweep
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(beta=beta)
        self.beta = beta

    @staticmethod
    @abc.abstractmethod
    def merged(q1: Gaussian, q2: Gaussian) -> Gaussian:
        """The posterior that both images get in shared dimensions."""

    def loss(self, batch: PairBatch) -> Terms:
        q1, q2 = self.posteriors(batch.x1, batch.x2)
        q1, q2 = replace_shared(shared_mask(q1, q2), q1, q2, self.merged(q1, q2))
        x, z = torch.cat([batch.x1, batch.x2]), torch.cat([q1.sample(), q2.sample()])
        nll = self.likelihood.nll(self.decoder(z), x)  # over both images: ½ of the sum
        kl = 0.5 * (kl_to_standard_normal(q1) + kl_to_standard_normal(q2))
        return Terms(nll + self.beta * kl, {"nll": nll, "kl": kl})
