"""The base class of methods that predict a class: a classifier on the default strand of the code."""

from collections.abc import Mapping, Set
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.methods.base import B, BuildSpec, Method
from unbraid.nn import Classifier, latent_dim_of
from unbraid.optimizers import Adam
from unbraid.types import Codes, Labels, Logits, Observations, Scalar, Terms

DEFAULT_OPTIMIZER = Adam(1e-3)  # of every player of these methods; 1e-4 to 1e-3 in their papers, where stated


class Predictor(Method[B]):
    """A method with a classifier; the subclass defines the loss."""

    family = "Invariance to nuisances"
    classifier: nn.Module

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing, settings)
        if "classifier" in missing:
            if spec.classes < 2:
                raise ValueError(
                    f"{cls.name()} requires a label of at least two classes, and the dataset has "
                    f"{spec.classes or 'none'}. Use a dataset with a label, or a method without a classifier."
                )
            arguments["classifier"] = Classifier(cls.classifier_input_dim(spec, settings), spec.classes)
        return arguments

    @classmethod
    def classifier_input_dim(cls, spec: BuildSpec, settings: Mapping[str, Any]) -> int:
        """Number of dimensions that the classifier takes; by default the whole code."""
        return spec.latent_dim_with(settings)

    def predict(self, x: Observations, condition: Tensor | None = None) -> Logits:
        """A logit per class, from the code without noise."""
        return self.classify(self.encode(x, condition))

    def classify(self, codes: Codes) -> Logits:
        """A logit per class, from the code and in its precision."""
        return self.classifier(self.strands.take(codes, self.strands.default)).to(codes.dtype)

    def validation_loss(self, batch: Any) -> Terms:
        """The cross-entropy of the class; of a pair, that of the first observation."""
        condition = batch.nuisances if self.conditions_on == "nuisances" else None
        logits, labels = self.predict(batch[0], condition), labels_of(batch)
        return Terms(cross_entropy(logits, labels), {"accuracy": accuracy(logits, labels)})


def labels_of(batch: Any) -> Labels:
    """The labels of a batch; raises where it has none."""
    if batch.labels is None:
        raise ValueError("This method requires labels, and the batch has none. Use a dataset with a label.")
    return batch.labels


def cross_entropy(logits: Logits, labels: Labels) -> Scalar:
    """-log p(label) in nats, averaged over the batch."""
    return F.cross_entropy(logits, labels)


def accuracy(logits: Logits, labels: Labels) -> Scalar:
    """The fraction of the batch whose largest logit is that of its label, for the log."""
    return (logits.argmax(1) == labels).to(logits.dtype).mean()


def require_codes(encoder: nn.Module, latent_dim: int) -> None:
    """Raises unless the code of the encoder has as many dimensions as the strands."""
    if (size := latent_dim_of(encoder)) != latent_dim:
        raise ValueError(
            f"The strands have {latent_dim} dimensions in total, and the encoder has {size}. Choose strand sizes that "
            f"add up to {size}, or an encoder of {latent_dim} dimensions."
        )
