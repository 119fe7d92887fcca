"""AnnealedVAE. Burgess et al., 2018, Understanding Disentangling in β-VAE, arXiv:1804.03599."""

from torch import nn

from unbraid.distributed import all_gather
from unbraid.methods.autoencoder import Autoencoder
from unbraid.objectives import Bernoulli, Likelihood, kl_to_standard_normal
from unbraid.schedules import Linear, Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Terms


class AnnealedVAE(Autoencoder[Batch]):
    r"""VAE whose KL divergence is kept at a capacity C that increases during training.

    .. math:: L = -E_{q(z|x)}[\log p(x|z)] + γ |KL(q(z|x) \| p(z)) - C| \quad \text{(Eq. 8, negated)}

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        gamma: Weight γ of the distance from the capacity.
        capacity: Schedule of C in nats: linear:START:END:STEPS, constant:VALUE, cosine:START:END:STEPS or
            step:START:FACTOR:EVERY.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        gamma: float = 1000.0,  # as the capacity, the paper's on dSprites
        capacity: Schedule = Linear(0.0, 25.0, 100_000),
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(gamma=gamma)
        self.gamma, self.capacity = gamma, capacity

    def loss(self, batch: Batch) -> Terms:
        q = self.posterior(batch.x)
        nll = self.likelihood.nll(self.decoder(q.sample()), batch.x)
        kl = all_gather(kl_to_standard_normal(q)[None]).mean()  # over all processes, before |·|
        distance = (kl - self.capacity(self.step)).abs()
        return Terms(nll + self.gamma * distance, {"nll": nll, "kl": kl, "distance": distance})
