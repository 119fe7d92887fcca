"""CVIB. Moyer et al., 2018, Invariant Representations without Adversarial Training, arXiv:1805.09458."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.nuisances import KnownNuisances, known_nuisances, require_nuisances
from unbraid.methods.predictor import DEFAULT_OPTIMIZER, Predictor, accuracy, cross_entropy, labels_of
from unbraid.objectives import Bernoulli, Likelihood, kl_to_standard_normal, pairwise_kl
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Codes, Observations, Terms


class CVIB(Predictor[Batch], Autoencoder[Batch]):
    r"""Information bottleneck with a bound on the mutual information of code and known nuisances c.

    .. math:: L = -E_{q(z|x)}[\log p(y|z)] + β I(x; z) + λ I(z; c)

    .. math:: I(x; z) ≤ E[KL(q(z|x) \| p(z))], \quad
              I(z; c) ≤ E[KL(q(z|x) \| q(z))] - E_{q(z|x)}[\log p(x|z, c)] - H(x|c)

    The decoder takes the nuisances as input, so that the code need not encode them. KL(q(z|x) || q(z)) is bounded by
    the mean divergence between the posteriors of a batch, and the entropy H(x|c) is constant.

    Args:
        encoder: Network from observations to the posterior q(z|x); needs an attribute `latent_dim`.
        decoder: Network from codes and one-hot nuisances to the parameters of p(x|z, c).
        classifier: Network from codes to a logit per class.
        nuisances: Number of values of each known nuisance.
        lambda_class: Weight of the cross-entropy; 1 in the paper.
        beta: Weight of the bound on I(x; z).
        lambda_invariance: Weight λ of the bound on I(z; c).
        likelihood: Family of p(x|z, c): bernoulli or normal:SIGMA.
    """

    conditions_on = "nuisances"

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        *,
        nuisances: tuple[int, ...],
        lambda_class: float = 100.0,
        beta: float = 0.1,
        lambda_invariance: float = 1.0,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(lambda_class=lambda_class, beta=beta, lambda_invariance=lambda_invariance)
        self.classifier, self.nuisances = classifier, KnownNuisances(nuisances)
        self.lambda_class, self.beta, self.lambda_invariance = lambda_class, beta, lambda_invariance

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing, settings)
        if "decoder" in missing:
            require_nuisances(cls.name(), spec)
            input_dim = cls.classifier_input_dim(spec, settings) + sum(spec.nuisances)
            built = super().default_arguments(spec._replace(latent_dim=input_dim), {"decoder"}, {})
            arguments["decoder"] = built["decoder"]
        return arguments

    def loss(self, batch: Batch) -> Terms:
        labels, c = labels_of(batch), self.nuisances.record_values(known_nuisances(batch))
        q = self.posterior(batch.x)
        z = q.sample()
        nll = self.likelihood.nll(self.decode_parameters(z, c), batch.x)
        kl, between = kl_to_standard_normal(q), pairwise_kl(q)
        logits = self.classify(z)
        ce = cross_entropy(logits, labels)
        total = self.lambda_class * ce + self.beta * kl + self.lambda_invariance * (between + nll)
        terms = {"nll": nll, "kl": kl, "pairwise_kl": between, "cross_entropy": ce}
        return Terms(total, terms | {"accuracy": accuracy(logits, labels)})

    def decode_parameters(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return self.decoder(torch.cat([codes, self.nuisances(condition, codes)], 1)).to(codes.dtype)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, DEFAULT_OPTIMIZER),)
