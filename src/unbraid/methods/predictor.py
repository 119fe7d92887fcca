"""What all methods that predict a class have: a classifier on the default strand of their code."""

from collections.abc import Mapping, Set
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.methods.base import B, Facts, Method
from unbraid.nn import Classifier
from unbraid.optimisers import Adam
from unbraid.types import Codes, Labels, Logits, Observations, Scalar, Terms

RATE = Adam(1e-3)  # of every player of these methods; their papers have 1e-4 to 1e-3, or give none


class Predictor(Method[B]):
    """A method that also predicts; its loss is left to the method."""

    classifier: nn.Module

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts, wanted, settings)
        if "classifier" in wanted:
            if facts.classes < 2:
                raise ValueError(
                    f"{cls.name()} learns to predict a label of at least two classes, and the data has "
                    f"{facts.classes or 'none'}: use a dataset with a label, or a method without one."
                )
            parts["classifier"] = Classifier(cls.readable(facts, settings), facts.classes)
        return parts

    @classmethod
    def readable(cls, facts: Facts, settings: Mapping[str, Any]) -> int:
        """How many codes the classifier reads; all of them unless a method knows better."""
        return getattr(settings.get("encoder"), "codes", facts.codes)

    def predict(self, x: Observations, given: Tensor | None = None) -> Logits:
        """A logit for each class, from the code without noise."""
        return self.classify(self.encode(x, given))

    def classify(self, codes: Codes) -> Logits:
        """The same from the code, in its precision: a network under autocast may put out less."""
        return self.classifier(self.strands.take(codes, self.strands.default)).to(codes.dtype)

    def validation(self, batch: Any) -> Terms:
        """How well held-out observations are classified; of a pair, the first."""
        given = batch.nuisances if self.conditional else None
        logits, labels = self.predict(batch[0], given), labels_of(batch)
        return Terms(cross_entropy(logits, labels), {"accuracy": accuracy(logits, labels)})


def labels_of(batch: Any) -> Labels:
    """The labels of a batch, which must have them."""
    if batch.labels is None:
        raise ValueError(
            "This method learns from labels, and the batch has none: use a dataset with a label."
        )
    return batch.labels


def cross_entropy(logits: Logits, labels: Labels) -> Scalar:
    """-log p(label) in nats, averaged over the batch."""
    return F.cross_entropy(logits, labels)


def accuracy(logits: Logits, labels: Labels) -> Scalar:
    """The fraction of the batch whose largest logit is that of its label; for the log, without gradient."""
    return (logits.argmax(1) == labels).to(logits.dtype).mean()


def require_codes(encoder: nn.Module, codes: int) -> None:
    """Raises unless the encoder puts out as many codes as the strands have."""
    if not hasattr(encoder, "codes"):
        raise ValueError(
            f"{type(encoder).__name__} does not say how many codes it puts out: give it an attribute `codes`."
        )
    if encoder.codes != codes:
        raise ValueError(
            f"The strands have {codes} codes in all, and the encoder puts out {encoder.codes}: give strands whose "
            f"sizes sum up to {encoder.codes}, or an encoder of {codes} codes."
        )
