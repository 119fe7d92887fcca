"""SubInfoMax. Burns et al., 2021, Unsupervised Disentanglement without Autoencoding: Pitfalls and Future Directions,
ICML workshop."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.methods.subembedding_contrast import PairMasks, Positives, SubembeddingContrast
from unbraid.methods.view_contrastive import Features, FeatureViews, Views
from unbraid.objectives import (
    InfoMinForm,
    Reduction,
    contrast_gradient,
    hessian_blocks,
    infomin,
    orthogonality,
    unit_subembeddings,
)
from unbraid.types import Codes, Scalar

Pipeline = Literal["separate", "unified"]
REGULARIZERS = ("infomin", "orthogonality", "permuted_orthogonality", "hessian")


class SubInfoMax(SubembeddingContrast):
    r"""Contrastive learning on K subembeddings, with regularizers against shared information.

    .. math:: L = \sum_k L_{InfoMax}(z_k) + \sum_R λ_R R \quad \text{(Eqs. 2 and 3)}

    Args:
        encoder: Network from observations to features r; needs an attribute `features`.
        head: Network from features to the embedding z; needs an attribute `latent_dim`.
        embedding_dim: Number of dimensions of z, over all subembeddings.
        num_subembeddings: Number K of subembeddings.
        pipeline: `separate`: one head and one InfoMax per subembedding, each of length 1 (Eq. 2; Secs. 4.1, 4.2).
            `unified`: one head and one InfoMax on z of length 1, divided into subembeddings (Sec. 4.3, for the
            Hessian).
        positives: `label`: views with the same joint label (Sec. 3.1). `view-pair`: the other view of a pair.
            `view-pair-masked`: the other view of a pair; further views with the same label are not negatives.
        temperature: Temperature τ of the softmax over similarities.
        lambda_infomin: Weight λ of the negated InfoNCE between subembeddings (Eq. 4).
        infomin_form: Denominator of Eq. 4: over the other subembedding of all images (`corrected`), or over the same
            subembedding of the other images (`printed`).
        lambda_orthogonality: Weight λ of the cosines between subembeddings (Eq. 5).
        lambda_permuted_orthogonality: Weight λ of the cosines with shuffled dimensions (Eq. 6).
        orthogonality_reduction: Sum or mean over the two views j of an image in Eqs. 5 and 6; the paper has a sum.
        lambda_hessian: Weight λ of the off-diagonal blocks of InfoMax's Gauss-Newton matrix (Eqs. 7, 8).
        regularize_features: Regularizers that act on the strands of r instead of z, such as hessian,infomin.
    """

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
        infomin_form: InfoMinForm = "corrected",
        lambda_orthogonality: float = 0.0,
        lambda_permuted_orthogonality: float = 0.0,
        orthogonality_reduction: Reduction = "sum",
        lambda_hessian: float = 0.0,
        regularize_features: tuple[str, ...] = (),
    ) -> None:
        for name, value, choices in (
            ("pipeline", pipeline, Pipeline),
            ("infomin-form", infomin_form, InfoMinForm),
            ("orthogonality-reduction", orthogonality_reduction, Reduction),
        ):
            if value not in get_args(choices):
                raise ValueError(f"--{name} must be one of {', '.join(get_args(choices))}; got {value!r}.")
        weights = (lambda_infomin, lambda_orthogonality, lambda_permuted_orthogonality, lambda_hessian)
        super().__init__(
            encoder,
            head,
            embedding_dim=embedding_dim,
            num_subembeddings=num_subembeddings,
            positives=positives,
            temperature=temperature,
            weights=dict(zip(REGULARIZERS, weights, strict=True)),
            regularize_features=regularize_features,
        )
        self.pipeline: Pipeline = pipeline
        self.infomin_form: InfoMinForm = infomin_form
        self.orthogonality_reduction: Reduction = orthogonality_reduction

    @classmethod
    def has_separate_heads(cls, settings: Mapping[str, Any]) -> bool:
        return cls.option(settings, "pipeline") == "separate"

    def normalize(self, z: Codes) -> Codes:
        if self.pipeline == "unified":
            return F.normalize(z, dim=1)
        return unit_subembeddings(z, self.num_subembeddings).flatten(1)

    def contrast_inputs(self, z: Codes) -> tuple[Float[Tensor, "b e"], ...]:
        return z.chunk(self.num_subembeddings, 1) if self.pipeline == "separate" else (z,)

    def regularizer(self, name: str, r: FeatureViews, z: Views, masks: PairMasks) -> Scalar:
        on_features = name in self.regularize_features
        if name == "hessian":
            gradient_fn, codes = (self.gradient_by_r, r) if on_features else (self.gradient_by_z, z)
            gradient = gradient_fn(codes.flatten(0, 1), masks)
            return hessian_blocks(gradient.unflatten(1, (self.num_subembeddings, -1)))
        first, second = (
            unit_subembeddings(view, self.num_subembeddings) for view in (r if on_features else z).unbind(1)
        )
        if name == "infomin":  # within each view
            per_view = [
                infomin(view, temperature=self.temperature, form=self.infomin_form)
                for view in (first, second)
            ]
            return torch.stack(per_view).mean()
        permuted = name == "permuted_orthogonality"
        return orthogonality(first, second, permuted=permuted, reduction=self.orthogonality_reduction)

    def gradient_by_z(self, z: Codes, masks: PairMasks) -> Codes:
        """The gradient of InfoMax, summed over rows, with respect to the normalized embedding.

        The gradient with respect to the embedding before normalization would shrink as embeddings grow, and so would
        the regularizer.
        """
        gradients = [
            contrast_gradient(embedding, masks.positives, temperature=self.temperature, ignored=masks.ignored)
            for embedding in self.contrast_inputs(z)
        ]
        return torch.cat(gradients, 1)

    def gradient_by_r(self, r: Features, masks: PairMasks) -> Features:
        """The gradient of InfoMax with respect to the direction of the features, at constant length."""
        create_graph = torch.is_grad_enabled()
        with torch.enable_grad():  # this regularizer needs gradients, which validation disables
            direction = F.normalize(r, dim=1)
            direction = direction if direction.requires_grad else direction.requires_grad_()
            length = r.norm(dim=1, keepdim=True)
            z = self.normalize(self.head(direction * length).to(r.dtype))
            gradient_z = self.gradient_by_z(z, masks)
            return torch.autograd.grad(z, direction, gradient_z, create_graph=create_graph)[0]
