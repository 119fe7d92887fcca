"""CNN with a β-VAE: the baseline "β-VAE" of Reconstruction for Disentanglement, Contrast for Invariance, 2022,
Tables 1 and 2."""

from torch import nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import Player
from unbraid.methods.predictor import DEFAULT_OPTIMIZER, Predictor, accuracy, cross_entropy, labels_of
from unbraid.objectives import Bernoulli, Likelihood, kl_to_standard_normal
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Terms


class CNNBetaVAE(Predictor[Batch], Autoencoder[Batch]):
    r"""β-VAE with a classifier on the code.

    .. math:: L = -λ E_{q(z|x)}[\log p(y|z)] - E_{q(z|x)}[\log p(x|z)] + β KL(q(z|x) \| p(z))

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z).
        classifier: Network from codes to a logit per class.
        lambda_class: Weight λ of the cross-entropy; 0 is the β-VAE.
        beta: Weight of the KL divergence.
        likelihood: Family of p(x|z): bernoulli or normal:SIGMA.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        *,
        lambda_class: float = 100.0,  # the paper gives neither weight
        beta: float = 1.0,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(lambda_class=lambda_class, beta=beta)
        self.classifier, self.lambda_class, self.beta = classifier, lambda_class, beta

    def loss(self, batch: Batch) -> Terms:
        labels = labels_of(batch)
        q = self.posterior(batch.x)
        z = q.sample()
        nll = self.likelihood.nll(self.decoder(z), batch.x)
        kl = kl_to_standard_normal(q)
        logits = self.classify(z)
        ce = cross_entropy(logits, labels)
        terms = {"nll": nll, "kl": kl, "cross_entropy": ce, "accuracy": accuracy(logits, labels)}
        return Terms(self.lambda_class * ce + nll + self.beta * kl, terms)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, DEFAULT_OPTIMIZER),)
