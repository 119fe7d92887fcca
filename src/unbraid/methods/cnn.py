"""Plain CNN: the baseline of Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 1."""

from collections.abc import Mapping, Set
from typing import Any

from torch import Tensor, nn

from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.predictor import (
    DEFAULT_OPTIMIZER,
    Predictor,
    accuracy,
    cross_entropy,
    labels_of,
    require_codes,
)
from unbraid.nn import DeterministicEncoder
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, Terms


class CNN(Predictor[Batch]):
    r"""Encoder and classifier trained with cross-entropy only, the baseline of the invariance methods.

    .. math:: L = -\log p(y|x)

    Args:
        encoder: Network from observations to features; needs an attribute `latent_dim`.
        classifier: Network from features to a logit per class.
        feature_dim: Number of features, after a ReLU; they are the code.
    """

    code_size_options = ("feature_dim",)

    def __init__(self, encoder: nn.Module, classifier: nn.Module, *, feature_dim: int = 128) -> None:
        super().__init__()
        self.encoder, self.classifier = encoder, classifier
        self._strands = Strands.from_sizes(features=feature_dim)
        require_codes(encoder, feature_dim)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        spec = spec._replace(latent_dim=cls.option(settings, "feature_dim"))
        arguments = super().default_arguments(spec, missing, settings)
        if "encoder" in missing:
            arguments["encoder"] = DeterministicEncoder(arguments["encoder"], ending="relu")
        return arguments

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: Batch) -> Terms:
        logits, labels = self.predict(batch.x), labels_of(batch)
        ce = cross_entropy(logits, labels)
        return Terms(ce, {"cross_entropy": ce, "accuracy": accuracy(logits, labels)})

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, DEFAULT_OPTIMIZER),)
