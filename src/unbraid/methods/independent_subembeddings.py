"""Independent subembeddings, ours: contrastive learning on subembeddings of equal length that are made statistically
independent. An extension of Burns et al., 2021, Unsupervised Disentanglement without Autoencoding."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.data import CountsLabels, Dataset, Draw
from unbraid.methods.subembedding_contrast import PairMasks, Positives, SubembeddingContrast
from unbraid.methods.view_contrastive import FeatureViews, Views, both_views, equal_strands, features_of
from unbraid.objectives import correlation, dependence, find_independent_directions, unit_subembeddings
from unbraid.strands import Strands
from unbraid.types import Codes, Observations, Scalar, ViewBatch

REGULARIZERS = {"correlation": correlation, "dependence": dependence}


class IndependentSubembeddings(SubembeddingContrast):
    r"""Contrastive learning on the concatenation of K subembeddings of equal length, with regularizers of their
    dependence.

    .. math:: L = L_{InfoMax}([z_1, …, z_K] / \sqrt K) + \sum_R λ_R R

    Each subembedding has its own head and length 1, so that no subembedding can collapse. The regularizers are computed
    over the batch. `independent_directions` rotates the trained embedding.

    Args:
        encoder: Network from observations to features r; needs an attribute `features`.
        head: Network from features to the embedding z; needs an attribute `latent_dim`.
        embedding_dim: Number of dimensions of z, over all subembeddings.
        num_subembeddings: Number K of subembeddings.
        positives: `label`: views with the same joint label. `view-pair`: the other view of a pair. `view-pair-masked`:
            the other view of a pair; further views with the same label are not negatives.
        temperature: Temperature τ of the softmax over similarities.
        lambda_correlation: Weight λ of the squared correlations between subembeddings in the batch.
        lambda_dependence: Weight λ of the kernel dependence between subembeddings in the batch.
        regularize_features: Regularizers that act on the strands of r instead of z, such as dependence.
        independent_directions: Number of dimensions per subembedding chosen after the last step: directions of the
            whole embedding along which the mean embeddings of the joint labels are most independent; 0 keeps the
            trained subembeddings.
    """

    code_size_options = ("embedding_dim", "independent_directions")
    on_train_end_uses_draw = True
    on_train_end_samples = 50_000

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        *,
        embedding_dim: int = 16,
        num_subembeddings: int = 2,
        positives: Positives = "label",
        temperature: float = 0.1,
        lambda_correlation: float = 0.0,
        lambda_dependence: float = 0.0,
        regularize_features: tuple[str, ...] = (),
        independent_directions: int = 0,
    ) -> None:
        super().__init__(
            encoder,
            head,
            embedding_dim=embedding_dim,
            num_subembeddings=num_subembeddings,
            positives=positives,
            temperature=temperature,
            weights={"correlation": lambda_correlation, "dependence": lambda_dependence},
            regularize_features=regularize_features,
        )
        self.independent_directions = independent_directions
        if independent_directions:
            self._init_directions()

    @classmethod
    def has_separate_heads(cls, settings: Mapping[str, Any]) -> bool:
        return True

    def normalize(self, z: Codes) -> Codes:
        return (unit_subembeddings(z, self.num_subembeddings) / self.num_subembeddings**0.5).flatten(1)

    def contrast_inputs(self, z: Codes) -> tuple[Float[Tensor, "b e"], ...]:
        return (z,)

    def regularizer(self, name: str, r: FeatureViews, z: Views, masks: PairMasks) -> Scalar:
        views = (r if name in self.regularize_features else z).unbind(1)
        return REGULARIZERS[name](
            torch.cat([unit_subembeddings(view, self.num_subembeddings) for view in views])
        )

    def _init_directions(self) -> None:
        """Buffers for the directions; before the last step, the first dimensions of every subembedding."""
        size = self.num_subembeddings * self.independent_directions
        if not 0 < size <= self.embedding_dim or self.positives != "label" or self.num_subembeddings < 2:
            raise ValueError(
                "--independent-directions requires --positives label, at least 2 subembeddings, and no more directions "
                f"in total than --embedding-dim; got {self.num_subembeddings} subembeddings of "
                f"{self.independent_directions} for {self.embedding_dim} dimensions, positives={self.positives}."
            )
        features = features_of(self.encoder)
        z_strands = equal_strands("z", features, size, self.num_subembeddings)
        self._strands = Strands(
            equal_strands("r", 0, features, self.num_subembeddings) | z_strands,
            size=features + size,
            default="z",
        )
        identity = torch.eye(self.embedding_dim).unflatten(1, (self.num_subembeddings, -1))
        first_dims = identity[:, :, : self.independent_directions]
        self.register_buffer("center", torch.zeros(self.embedding_dim))
        self.register_buffer("matrix", first_dims.flatten(1).contiguous())

    def check_training(self, dataset: Dataset, draw: Draw, batch_size: int) -> None:
        """Raises unless there are more joint labels than directions."""
        needed = (
            self.num_subembeddings * self.independent_directions + 1 if self.independent_directions else 0
        )
        if isinstance(draw, CountsLabels) and (labels := draw.num_labels(dataset)) < needed:
            raise ValueError(
                f"{self.name()} needs views with at least {needed} different labels, and those of {dataset.name} have "
                f"{labels}. Use a smaller --independent-directions, or other data."
            )

    def on_train_end(self, batches: Iterable[ViewBatch]) -> None:
        if not self.independent_directions:
            return
        z, labels = [], []
        for batch in batches:
            z.append(self.features_and_embedding(both_views(batch))[1])
            labels.append(cast(Tensor, batch.labels).repeat(2))
        projection = find_independent_directions(
            torch.cat(z),
            torch.cat(labels),
            num_subembeddings=self.num_subembeddings,
            directions=self.independent_directions,
        )
        cast(Tensor, self.center).copy_(projection.center)
        cast(Tensor, self.matrix).copy_(projection.matrix)

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        r, z = self.features_and_embedding(x)
        if self.independent_directions:
            z = (z - cast(Tensor, self.center)) @ cast(Tensor, self.matrix)
        return torch.cat([r, z], 1)
