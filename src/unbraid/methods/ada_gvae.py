"""Ada-GVAE. Locatello et al., 2020, Weakly-Supervised Disentanglement Without Compromises, arXiv:2002.02886."""

import torch
from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import Bernoulli, Likelihood, kl_to_standard_normal
from unbraid.objectives.shared_codes import average, share, shared_codes
from unbraid.settings import require_nonnegative
from unbraid.types import PairBatch, Terms


class AdaGVAE(Autoencoder[PairBatch]):
    r"""β-VAE on pairs, whose posteriors are averaged in the codes that the two images seem to share.

    .. math:: L = ½ \sum_{i=1}^2 -E_{\tilde q(z|x_i)}[\log p(x_i|z)] + β KL(\tilde q(z|x_i) \| p(z))

    Here :math:`\tilde q(z_j|x_i)` has the mean of both means and the mean of both variances where
    :math:`δ_j = KL(q(z_j|x_1) \| q(z_j|x_2))` lies below the middle between the largest and the smallest of
    the pair, and is :math:`q(z_j|x_i)` elsewhere (Sec. 4). How many factors changed is not used.

    Args:
        encoder: Observations to the posterior q(z|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z).
        beta: The weight of the KL divergence.
        likelihood: The family p(x|z): bernoulli, or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        beta: float = 1.0,  # the least of the paper's sweep
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(beta=beta)
        self.beta = beta

    def loss(self, batch: PairBatch) -> Terms:
        q1, q2 = self.posteriors(batch.x1, batch.x2)
        q1, q2 = share(shared_codes(q1, q2), q1, q2, average(q1, q2))
        x, z = torch.cat([batch.x1, batch.x2]), torch.cat([q1.sample(), q2.sample()])
        nll = self.likelihood.nll(self.decoder(z), x)  # over both images: ½ of the sum
        kl = 0.5 * (kl_to_standard_normal(q1) + kl_to_standard_normal(q2))
        return Terms(nll + self.beta * kl, {"nll": nll, "kl": kl})
