"""VFAE. Louizos et al., 2016, The Variational Fair Autoencoder, arXiv:1511.00830."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.methods.base import Facts, Player
from unbraid.methods.nuisances import KnownNuisances, beside, known_nuisances, one_hot, require_nuisances
from unbraid.methods.predictor import RATE, Predictor, accuracy, cross_entropy, labels_of, require_codes
from unbraid.nn import MLPEncoder
from unbraid.objectives import Bernoulli, Likelihood, fast_group_mmd, kl, kl_to_standard_normal
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Gaussian, Nuisances, Observations, Scalar, Terms

WIDEST = 10.0  # log variance


class VFAE(Predictor[Batch]):
    r"""Two-layer VAE that is given the known nuisances s, so that z1 need not carry them, and must not.

    .. math:: L = -E[\log p(x|z_1, s)] + E[KL(q(z_1|x, s) \| p(z_1|z_2, y))] + E[KL(q(z_2|z_1, y) \| p(z_2))]
              - α E[\log q(y|z_1)] + β \, MMD(z_1 | s)

    The discrepancy is between the z1 of each value of a nuisance and those of all its other values, averaged over
    the values and summed over the nuisances; by random features (fast MMD). This is the loss where every label is
    known.

    Args:
        encoder: Observations with one-hot nuisances beside them to q(z1|x, s); needs an attribute `codes`.
        decoder: z1 and one-hot nuisances to the parameters of p(x|z1, s).
        classifier: z1 to a logit for each class: q(y|z1).
        upper: z1 and the one-hot class to q(z2|z1, y).
        lower: z2 and the one-hot class to p(z1|z2, y).
        classes: How many classes there are.
        nuisances: How many values each known nuisance has.
        z1: How many codes are to be free of the nuisances.
        z2: How many codes explain z1 beside the class.
        prediction: The weight α.
        invariance: The weight β of the discrepancy.
        likelihood: The family p(x|z1, s): bernoulli, or normal:SIGMA.
    """

    sizes_strands = True
    conditional = True

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        upper: nn.Module,
        lower: nn.Module,
        *,
        classes: int,
        nuisances: tuple[int, ...],
        z1: int = 50,  # App. A, on the largest of its tables
        z2: int = 50,
        prediction: float = 100.0,
        invariance: float = 100.0,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__()
        require_nonnegative(prediction=prediction, invariance=invariance)
        require_codes(encoder, z1)
        self.encoder, self.decoder, self.classifier = encoder, decoder, classifier
        self.upper, self.lower = upper, lower
        self.classes, self.nuisances, self.likelihood = classes, KnownNuisances(nuisances), likelihood
        self.prediction, self.invariance = prediction, invariance
        self._strands = Strands.cut(z1=z1, z2=z2)

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        z1, z2 = cls.setting(settings, "z1"), cls.setting(settings, "z2")
        values = sum(facts.nuisances)
        wide = (facts.shape[0] + values, *facts.shape[1:])
        parts = super().parts(facts._replace(shape=wide, codes=z1), wanted, settings)
        require_nuisances(cls.name(), facts)
        if "decoder" in wanted:
            decoder = super().parts(facts._replace(codes=z1 + values), {"decoder"}, {})["decoder"]
            parts["decoder"] = decoder
        hidden = (100,)  # App. A
        parts["upper"] = MLPEncoder((z1 + facts.classes,), z2, hidden=hidden)
        parts["lower"] = MLPEncoder((z2 + facts.classes,), z1, hidden=hidden)
        return parts

    @classmethod
    def readable(cls, facts: Facts, settings: Mapping[str, Any]) -> int:
        return cls.setting(settings, "z1")

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: Batch) -> Terms:
        labels, s = labels_of(batch), self.nuisances.see(known_nuisances(batch))
        y = one_hot(labels, self.classes).to(batch.x.dtype)
        q1 = self.posterior1(batch.x, s)
        z1 = q1.sample()
        q2 = self.posterior2(z1, y)
        p1 = _gaussian(self.lower, torch.cat([q2.sample(), y], 1))
        nll = self.likelihood.nll(self._decoded(z1, s), batch.x)
        kl1, kl2 = kl(q1, p1).sum(1).mean(), kl_to_standard_normal(q2)
        mmd = self.discrepancy(z1, s)
        logits = self.classifier(z1).to(z1.dtype)
        ce = cross_entropy(logits, labels)
        total = nll + kl1 + kl2 + self.prediction * ce + self.invariance * mmd
        parts = {"nll": nll, "kl1": kl1, "kl2": kl2, "mmd": mmd, "cross_entropy": ce}
        return Terms(total, parts | {"accuracy": accuracy(logits, labels)})

    def discrepancy(self, z1: Codes, s: Nuisances) -> Scalar:
        """MMD(z1 | s), by a Gaussian kernel whose squared width is the number of codes."""
        width = z1.shape[1] ** 0.5  # two draws of N(0, I) are √2 of it apart
        each = zip(s.unbind(1), self.nuisances.sizes, strict=True)
        return sum((fast_group_mmd(z1, value, size, width=width) for value, size in each), z1.new_zeros(()))

    def posterior1(self, x: Observations, given: Nuisances | None) -> Gaussian:
        """q(z1|x, s)."""
        return _gaussian(self.encoder, beside(x, self.nuisances(given, x)))

    def posterior2(self, z1: Codes, y: Float[Tensor, "b classes"]) -> Gaussian:
        """q(z2|z1, y)."""
        return _gaussian(self.upper, torch.cat([z1, y], 1))

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        """The means of z1 and of z2; the class that z2 is given is the predicted one, by its probabilities."""
        z1 = self.posterior1(x, given).mean
        y = self.classifier(z1).to(z1.dtype).softmax(1)
        return torch.cat([z1, self.posterior2(z1, y).mean], 1)

    def decode(self, codes: Codes, given: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decoded(codes, given))

    def decoded(self, codes: Codes, given: Tensor | None = None) -> Observations:
        """The parameters of p(x|z1, s); z2 has no part in it."""
        return self._decoded(self.strands.take(codes, "z1"), given)

    def _decoded(self, z1: Codes, given: Tensor | None) -> Observations:
        return self.decoder(torch.cat([z1, self.nuisances(given, z1)], 1)).to(z1.dtype)

    def prior(self, size: int) -> Codes:
        """z2 from N(0, I), a class by lot, and z1 from p(z1|z2, y)."""
        z2 = torch.randn(size, len(self.strands["z2"]), device=self.step.device)
        y = torch.randint(self.classes, (size,), device=self.step.device)
        p1 = _gaussian(self.lower, torch.cat([z2, one_hot(y, self.classes).to(z2.dtype)], 1))
        return torch.cat([p1.mean + (0.5 * p1.logvar).exp() * torch.randn_like(p1.mean), z2], 1)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, RATE),)


def _gaussian(network: nn.Module, x: Tensor) -> Gaussian:
    """What a network puts out, in the precision of what it was given, its log variance softly held within ±10.

    One Gaussian is sampled and given to the network of the next: without a bound one wide draw is enough for KL1,
    which divides by the variance that follows from it, to overflow.
    """
    mean, logvar = network(x)
    return Gaussian(mean.to(x.dtype), WIDEST * (logvar.to(x.dtype) / WIDEST).tanh())
