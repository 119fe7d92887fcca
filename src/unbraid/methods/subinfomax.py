"""SubInfoMax. Burns et al., 2021, Unsupervised Disentanglement without Autoencoding: Pitfalls and Future Directions,
ICML workshop."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.methods.view_contrastive import (
    Features,
    FeatureViews,
    ViewContrastive,
    Views,
    both_views,
    equal_strands,
    features_of,
    same_label,
    same_pair,
)
from unbraid.objectives import (
    contrast_gradient,
    correlation,
    dependence,
    hessian_blocks,
    independent_parts,
    info_nce,
    infomin,
    orthogonality,
    unit_parts,
)
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, Observations, Scalar, Terms, ViewBatch

Pipeline = Literal["separate", "unified", "balanced"]
Positives = Literal["label", "view-pair", "view-pair-masked"]
REGULARIZERS = (
    *("infomin", "orthogonality", "permuted_orthogonality", "hessian"),
    *("correlation", "dependence"),  # not in the paper
)


class SubInfoMax(ViewContrastive):
    r"""Contrastive learning on K subembeddings, with regularizers against shared information.

    .. math:: L = \sum_k L_{InfoMax}(z_k) + \sum_R λ_R R \quad \text{(Eqs. 2 and 3)}

    Args:
        encoder: Network from observations to features r; needs an attribute `features`.
        head: Network from features to the embedding z; needs an attribute `latent_dim`.
        embedding_dim: Number of dimensions of z, over all subembeddings.
        num_subembeddings: Number K of subembeddings.
        pipeline: `separate`: one head and one InfoMax per subembedding, each of length 1 (Eq. 2; Secs. 4.1, 4.2).
            `unified`: one head and one InfoMax on z of length 1, divided into subembeddings (Sec. 4.3, for the
            Hessian). `balanced` (not in the paper): one head per subembedding, and one InfoMax on the concatenation of
            subembeddings of equal length, so that no subembedding can collapse.
        positives: `label`: views with the same joint label (Sec. 3.1). `view-pair`: the other view of a pair.
            `view-pair-masked`: the other view of a pair; further views with the same label are not negatives.
        temperature: Temperature τ of the softmax over similarities.
        lambda_infomin: Weight λ of the negated InfoNCE between subembeddings (Eq. 4).
        lambda_orthogonality: Weight λ of the cosines between subembeddings (Eq. 5).
        lambda_permuted_orthogonality: Weight λ of the cosines with shuffled dimensions (Eq. 6).
        lambda_hessian: Weight λ of the off-diagonal blocks of InfoMax's Gauss-Newton matrix (Eqs. 7, 8).
        lambda_correlation: Weight λ of the squared correlations between subembeddings in the batch (not in the paper).
        lambda_dependence: Weight λ of the kernel dependence between subembeddings in the batch (not in the paper).
        regularize_features: Regularizers that act on the strands of r instead of z, such as hessian,infomin.
        independent_directions: Number of dimensions per subembedding chosen after the last step: directions of the
            whole embedding along which the mean embeddings of the joint labels are most independent (not in the
            paper); 0 keeps the trained subembeddings.
    """

    on_train_end_uses_draw = True
    on_train_end_samples = 50_000

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        *,
        embedding_dim: int = 16,  # two subembeddings of 8 dimensions, Sec. 4.1.1
        num_subembeddings: int = 2,
        pipeline: Pipeline = "separate",
        positives: Positives = "label",
        temperature: float = 0.1,  # not given in the paper
        lambda_infomin: float = 0.0,
        lambda_orthogonality: float = 0.0,
        lambda_permuted_orthogonality: float = 0.0,
        lambda_hessian: float = 0.0,
        lambda_correlation: float = 0.0,
        lambda_dependence: float = 0.0,
        regularize_features: tuple[str, ...] = (),
        independent_directions: int = 0,
    ) -> None:
        for name, value, choices in (("pipeline", pipeline, Pipeline), ("positives", positives, Positives)):
            if value not in get_args(choices):
                raise ValueError(f"--{name} must be one of {', '.join(get_args(choices))}; got {value!r}.")
        super().__init__(
            encoder,
            head,
            embedding_dim=embedding_dim,
            num_subembeddings=num_subembeddings,
            temperature=temperature,
        )
        weights = (
            lambda_infomin,
            lambda_orthogonality,
            lambda_permuted_orthogonality,
            lambda_hessian,
            lambda_correlation,
            lambda_dependence,
        )
        self.weights: dict[str, float] = dict(zip(REGULARIZERS, weights, strict=True))
        require_nonnegative(**{f"lambda_{name}": weight for name, weight in self.weights.items()})
        for name in regularize_features:
            if name not in REGULARIZERS:
                raise ValueError(
                    f"--regularize-features must list regularizers among {', '.join(REGULARIZERS)}; got {name!r}."
                )
        if any(weights) and num_subembeddings < 2:
            raise ValueError("A regularizer between subembeddings requires at least 2 subembeddings; got 1.")
        self.pipeline: Pipeline = pipeline
        self.positives: Positives = positives
        self.regularize_features = regularize_features
        self.independent_directions = independent_directions
        if independent_directions:
            self._init_directions()

    @classmethod
    def has_separate_heads(cls, settings: Mapping[str, Any]) -> bool:
        return cls.option(settings, "pipeline") != "unified"

    def normalize(self, z: Codes) -> Codes:
        if self.pipeline == "unified":
            return F.normalize(z, dim=1)
        z_k = unit_parts(z, self.num_subembeddings)
        if self.pipeline == "balanced":
            z_k = z_k / self.num_subembeddings**0.5  # z has length 1
        return z_k.flatten(1)

    def _init_directions(self) -> None:
        """Buffers for the directions; before the last step, the first dimensions of every subembedding."""
        size = self.num_subembeddings * self.independent_directions
        if not 0 < size <= self.embedding_dim or self.positives != "label" or self.num_subembeddings < 2:
            raise ValueError(
                "--independent-directions requires --positives label, at least 2 subembeddings, and no more directions "
                f"in total than --embedding-dim; got {self.num_subembeddings} subembeddings of "
                f"{self.independent_directions} for {self.embedding_dim} dimensions, positives={self.positives}."
            )
        self.min_labels = size + 1
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

    def on_train_end(self, batches: Iterable[ViewBatch]) -> None:
        if not self.independent_directions:
            return
        z, labels = [], []
        for batch in batches:
            z.append(self.features_and_embedding(both_views(batch))[1])
            labels.append(cast(Tensor, batch.labels).repeat(2))
        projection = independent_parts(
            torch.cat(z),
            torch.cat(labels),
            parts=self.num_subembeddings,
            directions=self.independent_directions,
        )
        cast(Tensor, self.center).copy_(projection.center)
        cast(Tensor, self.matrix).copy_(projection.matrix)

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        r, z = self.features_and_embedding(x)
        if self.independent_directions:
            z = (z - cast(Tensor, self.center)) @ cast(Tensor, self.matrix)
        return torch.cat([r, z], 1)

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

    def pair_masks(self, batch: ViewBatch) -> "PairMasks":
        """Which views are positives of each view, and which are neither positives nor negatives."""
        if self.positives == "label":
            return PairMasks(same_label(batch.labels))
        ignored = same_label(batch.labels) if self.positives == "view-pair-masked" else None
        return PairMasks(same_pair(batch), ignored)

    def infomax(self, z: Codes, masks: "PairMasks") -> Scalar:
        """Eq. 2, a sum over the subembeddings; Eq. 1 for the pipelines with one InfoMax."""
        terms = [
            info_nce(embedding, masks.positives, temperature=self.temperature, ignored=masks.ignored)
            for embedding in self._contrast_inputs(z)
        ]
        return torch.stack(terms).sum()

    def regularizer(self, name: str, r: FeatureViews, z: Views, masks: "PairMasks") -> Scalar:
        """The regularizer R on z, or on r if it is among `regularize_features`."""
        on_features = name in self.regularize_features
        if name == "hessian":
            gradient_fn, codes = (self.gradient_by_r, r) if on_features else (self.gradient_by_z, z)
            gradient = gradient_fn(codes.flatten(0, 1), masks)
            return hessian_blocks(gradient.unflatten(1, (self.num_subembeddings, -1)))
        first, second = (
            unit_parts(view, self.num_subembeddings) for view in (r if on_features else z).unbind(1)
        )
        if name == "infomin":  # within each view
            per_view = [infomin(view, temperature=self.temperature) for view in (first, second)]
            return torch.stack(per_view).mean()
        if name == "dependence":
            return dependence(torch.cat([first, second]))
        if name == "correlation":
            return correlation(torch.cat([first, second]))
        return orthogonality(first, second, permuted=name == "permuted_orthogonality")

    def gradient_by_z(self, z: Codes, masks: "PairMasks") -> Codes:
        """The gradient of InfoMax, summed over rows, with respect to the normalized embedding.

        The gradient with respect to the embedding before normalization would shrink as embeddings grow, and so would
        the regularizer.
        """
        gradients = [
            contrast_gradient(embedding, masks.positives, temperature=self.temperature, ignored=masks.ignored)
            for embedding in self._contrast_inputs(z)
        ]
        return torch.cat(gradients, 1)

    def gradient_by_r(self, r: Features, masks: "PairMasks") -> Features:
        """The gradient of InfoMax with respect to the direction of the features, at constant length."""
        create_graph = torch.is_grad_enabled()
        with torch.enable_grad():  # this regularizer needs gradients, which validation disables
            direction = F.normalize(r, dim=1)
            direction = direction if direction.requires_grad else direction.requires_grad_()
            length = r.norm(dim=1, keepdim=True)
            z = self.normalize(self.head(direction * length).to(r.dtype))
            gradient_z = self.gradient_by_z(z, masks)
            return torch.autograd.grad(z, direction, gradient_z, create_graph=create_graph)[0]

    def _contrast_inputs(self, z: Codes) -> tuple[Float[Tensor, "b e"], ...]:
        """The embeddings to which InfoMax is applied: every subembedding, or the whole embedding."""
        return z.chunk(self.num_subembeddings, 1) if self.pipeline == "separate" else (z,)


class PairMasks(NamedTuple):
    """Masks with one row per view of this process and one column per view of the global batch."""

    positives: Bool[Tensor, "v n"]
    ignored: Bool[Tensor, "v n"] | None = None
