"""CVIB. Moyer et al., 2018, Invariant Representations without Adversarial Training, arXiv:1805.09458."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.base import Facts, Player
from unbraid.methods.nuisances import KnownNuisances, known_nuisances, require_nuisances
from unbraid.methods.predictor import RATE, Predictor, accuracy, cross_entropy, labels_of
from unbraid.objectives import Bernoulli, Likelihood, kl_to_standard_normal, pairwise_kl
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Codes, Observations, Terms


class CVIB(Predictor[Batch], Autoencoder[Batch]):
    r"""Information bottleneck that also bounds what the code tells of the known nuisances c.

    .. math:: L = -E_{q(z|x)}[\log p(y|z)] + β I(x; z) + λ I(z; c)

    .. math:: I(x; z) ≤ E[KL(q(z|x) \| p(z))], \quad
              I(z; c) ≤ E[KL(q(z|x) \| q(z))] - E_{q(z|x)}[\log p(x|z, c)] - H(x|c)

    The decoder is given the nuisances, so that the code need not carry them. KL(q(z|x) || q(z)) is bounded in turn
    by the mean divergence between the posteriors of a batch, and the entropy H(x|c) is constant.

    Args:
        encoder: Observations to the posterior q(z|x); needs an attribute `codes`.
        decoder: Codes and one-hot nuisances to the parameters of p(x|z, c).
        classifier: Codes to a logit for each class.
        nuisances: How many values each known nuisance has.
        prediction: The weight of the cross-entropy; the paper has 1.
        beta: The weight of what the code tells of the observation.
        invariance: The weight λ of what it tells of the nuisances.
        likelihood: The family p(x|z, c): bernoulli, or normal:SIGMA.
    """

    conditional = True

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        *,
        nuisances: tuple[int, ...],
        prediction: float = 100.0,
        beta: float = 0.1,
        invariance: float = 1.0,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(encoder, decoder, likelihood)
        require_nonnegative(prediction=prediction, beta=beta, invariance=invariance)
        self.classifier, self.nuisances = classifier, KnownNuisances(nuisances)
        self.prediction, self.beta, self.invariance = prediction, beta, invariance

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts, wanted, settings)
        if "decoder" in wanted:
            require_nuisances(cls.name(), facts)
            codes = cls.readable(facts, settings) + sum(facts.nuisances)
            parts["decoder"] = super().parts(facts._replace(codes=codes), {"decoder"}, {})["decoder"]
        return parts

    def loss(self, batch: Batch) -> Terms:
        labels, c = labels_of(batch), self.nuisances.see(known_nuisances(batch))
        q = self.posterior(batch.x)
        z = q.sample()
        nll = self.likelihood.nll(self.decoded(z, c), batch.x)
        kl, between = kl_to_standard_normal(q), pairwise_kl(q)
        logits = self.classify(z)
        ce = cross_entropy(logits, labels)
        total = self.prediction * ce + self.beta * kl + self.invariance * (between + nll)
        parts = {"nll": nll, "kl": kl, "pairwise_kl": between, "cross_entropy": ce}
        return Terms(total, parts | {"accuracy": accuracy(logits, labels)})

    def decoded(self, codes: Codes, given: Tensor | None = None) -> Observations:
        return self.decoder(torch.cat([codes, self.nuisances(given, codes)], 1)).to(codes.dtype)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, RATE),)
