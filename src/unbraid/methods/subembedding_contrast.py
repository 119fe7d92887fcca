"""Base of the contrastive methods on K subembeddings: InfoMax and weighted regularizers, Burns et al., 2021, Eqs. 1 to
3."""

import abc
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from unbraid.methods.view_contrastive import FeatureViews, ViewContrastive, Views, same_label, same_pair
from unbraid.objectives import info_nce
from unbraid.settings import require_nonnegative
from unbraid.types import Codes, Scalar, Terms, ViewBatch

Positives = Literal["label", "view-pair", "view-pair-masked"]


class PairMasks(NamedTuple):
    """Masks with one row per view of this process and one column per view of the global batch."""

    positives: Bool[Tensor, "v n"]
    ignored: Bool[Tensor, "v n"] | None = None


class SubembeddingContrast(ViewContrastive, abc.ABC):
    """Contrastive learning with weighted regularizers of subembeddings; subclasses define the regularizers."""

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        *,
        embedding_dim: int,
        num_subembeddings: int,
        positives: Positives,
        temperature: float,
        weights: Mapping[str, float],
        regularize_features: Collection[str],
    ) -> None:
        if positives not in get_args(Positives):
            raise ValueError(
                f"--positives must be one of {', '.join(get_args(Positives))}; got {positives!r}."
            )
        super().__init__(
            encoder,
            head,
            embedding_dim=embedding_dim,
            num_subembeddings=num_subembeddings,
            temperature=temperature,
        )
        require_nonnegative(**{f"lambda_{name}": weight for name, weight in weights.items()})
        for name in regularize_features:
            if name not in weights:
                raise ValueError(
                    f"--regularize-features must list regularizers among {', '.join(weights)}; got {name!r}."
                )
        if any(weights.values()) and num_subembeddings < 2:
            raise ValueError("A regularizer between subembeddings requires at least 2 subembeddings; got 1.")
        self.positives: Positives = positives
        self.weights, self.regularize_features = dict(weights), regularize_features

    @abc.abstractmethod
    def contrast_inputs(self, z: Codes) -> tuple[Float[Tensor, "b e"], ...]:
        """The embeddings to which InfoMax is applied: every subembedding, or the whole embedding."""

    @abc.abstractmethod
    def regularizer(self, name: str, r: FeatureViews, z: Views, masks: PairMasks) -> Scalar:
        """The regularizer R on z, or on r if it is among `regularize_features`."""

    def loss(self, batch: ViewBatch) -> Terms:
        r, z = self.views(batch)
        masks = self.pair_masks(batch)
        infomax = self.infomax(z.flatten(0, 1), masks)
        regularizers = {
            name: self.regularizer(name, r, z, masks) for name, weight in self.weights.items() if weight
        }
        total = infomax
        for name, term in regularizers.items():
            total = total + self.weights[name] * term
        return Terms(total, {"infomax": infomax, **regularizers})

    def pair_masks(self, batch: ViewBatch) -> PairMasks:
        """Which views are positives of each view, and which are neither positives nor negatives."""
        if self.positives == "label":
            return PairMasks(same_label(batch.labels))
        ignored = same_label(batch.labels) if self.positives == "view-pair-masked" else None
        return PairMasks(same_pair(batch), ignored)

    def infomax(self, z: Codes, masks: PairMasks) -> Scalar:
        """Eq. 2, a sum over the subembeddings; Eq. 1 where InfoMax is applied to the whole embedding."""
        terms = [
            info_nce(embedding, masks.positives, temperature=self.temperature, ignored=masks.ignored)
            for embedding in self.contrast_inputs(z)
        ]
        return torch.stack(terms).sum()
