"""Plain CNN: the baseline of Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 1."""

from collections.abc import Mapping, Set
from typing import Any

from torch import Tensor, nn

from unbraid.methods.base import Facts, Player
from unbraid.methods.predictor import RATE, Predictor, accuracy, cross_entropy, labels_of, require_codes
from unbraid.nn import Features
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, Terms


class CNN(Predictor[Batch]):
    r"""Encoder and classifier trained by cross-entropy alone, with nothing to make the code invariant.

    .. math:: L = -\log p(y|x)

    Args:
        encoder: Observations to features; needs an attribute `codes`.
        classifier: Features to a logit for each class.
        features: How many features there are, after a ReLU; they are the code.
    """

    sizes_strands = True

    def __init__(self, encoder: nn.Module, classifier: nn.Module, *, features: int = 128) -> None:
        super().__init__()
        self.encoder, self.classifier = encoder, classifier
        self._strands = Strands.cut(features=features)
        require_codes(encoder, features)

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts._replace(codes=cls.setting(settings, "features")), wanted, settings)
        if "encoder" in wanted:
            parts["encoder"] = Features(parts["encoder"], ending="relu")
        return parts

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: Batch) -> Terms:
        logits, labels = self.predict(batch.x), labels_of(batch)
        ce = cross_entropy(logits, labels)
        return Terms(ce, {"cross_entropy": ce, "accuracy": accuracy(logits, labels)})

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, RATE),)
