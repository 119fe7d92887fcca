"""β-TCVAE. Chen et al., 2018, Isolating Sources of Disentanglement in VAEs, arXiv:1802.04942."""

from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import Bernoulli, Likelihood, Sampling, kl_to_standard_normal, total_correlation
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Terms


class BetaTCVAE(Autoencoder[Batch]):
    r"""VAE in which only the total correlation is weighted.

    .. math:: L = -E_{q(z|x)}[\log p(x|z)] + KL(q(z|x) \| p(z)) + (β - 1) TC(z)
              \quad \text{(Eq. 4 with α = γ = 1, negated)}

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        n: Number of images in the dataset.
        beta: Weight β of the total correlation; 1 is the VAE.
        sampling: Estimator of the total correlation from a batch: weighted or stratified.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        n: int,
        beta: float = 6.0,  # the paper's on dSprites
        sampling: Sampling = "weighted",  # the paper's choice, Sec. 3.1
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(beta=beta)
        if n < 1:
            raise ValueError(f"n, the number of images in the dataset, must be at least 1; got {n}.")
        self.n, self.beta = n, beta
        self.sampling: Sampling = sampling

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        z = q.sample()
        nll = self.likelihood.nll(self.decoder(z), batch.x)
        kl = kl_to_standard_normal(
            q
        )  # in closed form; the paper evaluates it at z, like the total correlation
        tc = total_correlation(z, q, self.n, sampling=self.sampling)
        return Terms(nll + kl + (self.beta - 1) * tc, {"nll": nll, "kl": kl, "tc": tc})
