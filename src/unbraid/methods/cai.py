"""CAI. Xie et al., 2017, Controllable Invariance through Adversarial Feature Learning, arXiv:1705.11122."""

from collections.abc import Mapping, Set
from typing import Any, Literal

import torch
from torch import Tensor, nn

from unbraid.methods.base import Facts, Player
from unbraid.methods.nuisances import known_nuisances, require_nuisances
from unbraid.methods.predictor import RATE, Predictor, accuracy, cross_entropy, labels_of, require_codes
from unbraid.nn import Classifiers, Features
from unbraid.objectives import reverse_gradient
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Nuisances, Observations, Scalar, Terms


class CAI(Predictor[Batch]):
    r"""CNN whose features are to tell nothing of the known nuisances s to a discriminator D that looks for them.

    .. math:: \min_{E, M} \max_D \; -\log p_M(y|h) + λ \log p_D(s|h), \quad h = E(x)

    Args:
        encoder: Observations to features; needs an attribute `codes`.
        classifier: Features to a logit for each class.
        discriminators: Features to logits for each value of each known nuisance.
        features: How many features there are, after a ReLU; they are the code.
        invariance: The weight λ of the discriminators' error; 0 is the plain CNN.
        game: `reversal`: one update for all, in which the discriminators' gradient reaches the encoder
            negated. `alternating`: the discriminators move after the others.
    """

    sizes_strands = True

    def __init__(
        self,
        encoder: nn.Module,
        classifier: nn.Module,
        discriminators: nn.Module,
        *,
        features: int = 128,
        invariance: float = 0.1,
        game: Literal["reversal", "alternating"] = "reversal",
    ) -> None:
        super().__init__()
        require_nonnegative(invariance=invariance)
        require_codes(encoder, features)
        self.encoder, self.classifier, self.discriminators = encoder, classifier, discriminators
        self.invariance, self.game = invariance, game
        self._strands = Strands.cut(features=features)

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        features = cls.setting(settings, "features")
        parts = super().parts(facts._replace(codes=features), wanted, settings)
        if "encoder" in wanted:
            parts["encoder"] = Features(parts["encoder"], ending="relu")
        if "discriminators" in wanted:
            require_nuisances(cls.name(), facts)
            parts["discriminators"] = Classifiers(features, facts.nuisances)
        return parts

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: Batch) -> Terms:
        labels, s = labels_of(batch), known_nuisances(batch)
        h = self.encode(batch.x)
        logits = self.classify(h)
        ce = cross_entropy(logits, labels)
        if self.game == "reversal":
            found = self.discrimination(reverse_gradient(h, self.invariance), s)
            total = ce + found
        else:
            found = self.discrimination(h, s)
            total = ce - self.invariance * found
        return Terms(total, {"cross_entropy": ce, "nuisances": found, "accuracy": accuracy(logits, labels)})

    def discriminator_loss(self, batch: Batch) -> Terms:
        """What discriminators that move by themselves minimise; no gradient reaches the encoder."""
        with torch.no_grad():
            h = self.encode(batch.x)
        return Terms(self.discrimination(h, known_nuisances(batch)), {})

    def discrimination(self, h: Codes, s: Nuisances) -> Scalar:
        """-log p(s|h), summed over the nuisances, averaged over the batch."""
        each = zip(self.discriminators(h), s.unbind(1), strict=True)
        return sum((cross_entropy(logits.to(h.dtype), value) for logits, value in each), h.new_zeros(()))

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def players(self) -> tuple[Player, ...]:
        if self.game == "reversal":
            return (Player("model", self.parameters(), self.loss, RATE),)
        model = [*self.encoder.parameters(), *self.classifier.parameters()]
        return (
            Player("model", model, self.loss, RATE),
            Player("discriminators", self.discriminators.parameters(), self.discriminator_loss, RATE),
        )
