"""CAI. Xie et al., 2017, Controllable Invariance through Adversarial Feature Learning, arXiv:1705.11122."""

from collections.abc import Mapping, Set
from typing import Any, Literal

import torch
from torch import Tensor, nn

from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.nuisances import known_nuisances, require_nuisances
from unbraid.methods.predictor import (
    DEFAULT_OPTIMIZER,
    Predictor,
    accuracy,
    cross_entropy,
    labels_of,
    require_codes,
)
from unbraid.nn import Classifiers, DeterministicEncoder
from unbraid.objectives import reverse_gradient
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Nuisances, Observations, Scalar, Terms


class CAI(Predictor[Batch]):
    r"""CNN trained adversarially so that a discriminator D cannot predict the known nuisances s from its features.

    .. math:: \min_{E, M} \max_D \; -\log p_M(y|h) + λ \log p_D(s|h), \quad h = E(x)

    Args:
        encoder: Network from observations to features; needs an attribute `latent_dim`.
        classifier: Network from features to a logit per class.
        discriminators: Network from features to logits for each value of each known nuisance.
        feature_dim: Number of features, after a ReLU; they are the code.
        lambda_invariance: Weight λ of the discriminators' error; 0 is the plain CNN.
        adversary_update: `reversal`: one player, with gradient reversal between encoder and discriminators.
            `alternating`: two players, the discriminators updated second.
    """

    code_size_options = ("feature_dim",)

    def __init__(
        self,
        encoder: nn.Module,
        classifier: nn.Module,
        discriminators: nn.Module,
        *,
        feature_dim: int = 128,
        lambda_invariance: float = 0.1,
        adversary_update: Literal["reversal", "alternating"] = "reversal",
    ) -> None:
        super().__init__()
        require_nonnegative(lambda_invariance=lambda_invariance)
        require_codes(encoder, feature_dim)
        self.encoder, self.classifier, self.discriminators = encoder, classifier, discriminators
        self.lambda_invariance, self.adversary_update = lambda_invariance, adversary_update
        self._strands = Strands.from_sizes(features=feature_dim)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        feature_dim = cls.option(settings, "feature_dim")
        arguments = super().default_arguments(spec._replace(latent_dim=feature_dim), missing, settings)
        if "encoder" in missing:
            arguments["encoder"] = DeterministicEncoder(arguments["encoder"], ending="relu")
        if "discriminators" in missing:
            require_nuisances(cls.name(), spec)
            arguments["discriminators"] = Classifiers(feature_dim, spec.nuisances)
        return arguments

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: Batch) -> Terms:
        labels, s = labels_of(batch), known_nuisances(batch)
        h = self.encode(batch.x)
        logits = self.classify(h)
        ce = cross_entropy(logits, labels)
        if self.adversary_update == "reversal":
            error = self.discrimination(reverse_gradient(h, self.lambda_invariance), s)
            total = ce + error
        else:
            error = self.discrimination(h, s)
            total = ce - self.lambda_invariance * error
        return Terms(total, {"cross_entropy": ce, "nuisances": error, "accuracy": accuracy(logits, labels)})

    def discriminator_loss(self, batch: Batch) -> Terms:
        """The loss of discriminators with their own player, without gradient to the encoder."""
        with torch.no_grad():
            h = self.encode(batch.x)
        return Terms(self.discrimination(h, known_nuisances(batch)), {})

    def discrimination(self, h: Codes, s: Nuisances) -> Scalar:
        """-log p(s|h), summed over the nuisances, averaged over the batch."""
        each = zip(self.discriminators(h), s.unbind(1), strict=True)
        return sum((cross_entropy(logits.to(h.dtype), value) for logits, value in each), h.new_zeros(()))

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def players(self) -> tuple[Player, ...]:
        if self.adversary_update == "reversal":
            return (Player("model", self.parameters(), self.loss, DEFAULT_OPTIMIZER),)
        model = [*self.encoder.parameters(), *self.classifier.parameters()]
        return (
            Player("model", model, self.loss, DEFAULT_OPTIMIZER),
            Player(
                "discriminators", self.discriminators.parameters(), self.discriminator_loss, DEFAULT_OPTIMIZER
            ),
        )
