"""DIP-VAE-I. Kumar et al., 2018, Variational Inference of Disentangled Latent Concepts from Unlabeled
Observations, arXiv:1711.00848."""

from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import (
    Bernoulli,
    Likelihood,
    covariance,
    diagonal_penalty,
    kl_to_standard_normal,
    off_diagonal_penalty,
)
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Terms


class DIPVAEI(Autoencoder[Batch]):
    r"""VAE with a penalty that makes posterior means uncorrelated, with variance 1.

    .. math:: L = -E_{q(z|x)}[\log p(x|z)] + KL(q(z|x) \| p(z))
              + λ_{od} \sum_{i ≠ j} C_{ij}^2 + λ_d \sum_i (C_{ii} - 1)^2,
              \quad C = Cov_{p(x)}[μ(x)] \quad \text{(Eq. 6, negated)}

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        lambda_od: Weight λ_od of the squared off-diagonal covariances.
        lambda_d: Weight λ_d of the squared differences of variances from 1; ten times lambda_od in the paper.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        lambda_od: float = 10.0,  # in the middle of the sweep of Locatello et al., 2019
        lambda_d: float = 100.0,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(lambda_od=lambda_od, lambda_d=lambda_d)
        self.lambda_od, self.lambda_d = lambda_od, lambda_d

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        nll = self.likelihood.nll(self.decoder(q.sample()), batch.x)
        kl = kl_to_standard_normal(q)
        c = covariance(q.mean)
        od, d = off_diagonal_penalty(c), diagonal_penalty(c)
        total = nll + kl + self.lambda_od * od + self.lambda_d * d
        return Terms(total, {"nll": nll, "kl": kl, "off_diagonal": od, "diagonal": d})
