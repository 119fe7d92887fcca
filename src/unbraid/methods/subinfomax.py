"""SubInfoMax. Burns et al., 2021, Unsupervised Disentanglement without Autoencoding: Pitfalls and Future Directions,
ICML workshop."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, cast, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.methods.contrastive import (
    Contrastive,
    Features,
    FeatureViews,
    Views,
    both_views,
    features_of,
    parts_of,
    same_label,
    same_pair,
)
from unbraid.objectives import (
    contrast,
    contrast_gradient,
    correlation,
    dependence,
    hessian_blocks,
    independent_parts,
    infomin,
    orthogonality,
    unit_parts,
)
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, Observations, Scalar, Terms, ViewBatch

Pipeline = Literal["separate", "unified", "balanced"]
Positives = Literal["label", "view-pair", "view-pair-masked"]
REGULARISERS = (
    *("infomin", "orthogonality", "permuted_orthogonality", "hessian"),
    *("correlation", "dependence"),  # ours
)


class SubInfoMax(Contrastive):
    r"""Contrastive learning on K subembeddings, with regularisers that keep them from sharing what they know.

    .. math:: L = \sum_k L_{InfoMax}(z_k) + \sum_R λ_R R \quad \text{(Eqs. 2 and 3)}

    Args:
        encoder: Observations to features r; needs an attribute `features`.
        head: Features to the embedding z; needs an attribute `codes`.
        embedding: The dimensions of z, of all subembeddings together.
        subembeddings: How many parts z and r have, K.
        pipeline: `separate`: a head and an InfoMax for each subembedding, each of length 1 (Eq. 2; Secs. 4.1, 4.2).
            `unified`: one head and one InfoMax on z of length 1, whose parts the subembeddings are (Sec. 4.3, for the
            Hessian). `balanced`, ours: a head for each, and one InfoMax on all of them side by side, each of the same
            length, so that together they must tell everything and none can be emptied.
        positives: `label`: views with the same joint label (Sec. 3.1). `view-pair`: the other view of a pair.
            `view-pair-masked`: the same, and other views with the same label are no negatives.
        temperature: τ.
        infomin: λ of the InfoNCE between subembeddings, negated (Eq. 4).
        orthogonality: λ of the cosines between subembeddings (Eq. 5).
        permuted_orthogonality: λ of the same with shuffled dimensions (Eq. 6).
        hessian: λ of the blocks off the diagonal of InfoMax's Gauss-Newton matrix (Eqs. 7, 8).
        correlation: λ of the squared correlations between subembeddings over the batch; ours.
        dependence: λ of the dependence between subembeddings over the batch, by kernels; ours.
        on_r: The regularisers that act on the parts of r, not of z.
        directions: Not in the paper. After the last step every subembedding becomes so many directions of the whole
            embedding, between which the joint labels' mean embeddings are as independent as can be; 0 for
            subembeddings as they were trained.
    """

    finish_as_drawn = True
    finish_samples = 50_000

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        *,
        embedding: int = 16,  # two of eight, Sec. 4.1.1
        subembeddings: int = 2,
        pipeline: Pipeline = "separate",
        positives: Positives = "label",
        temperature: float = 0.1,  # not given in the paper
        infomin: float = 0.0,
        orthogonality: float = 0.0,
        permuted_orthogonality: float = 0.0,
        hessian: float = 0.0,
        correlation: float = 0.0,
        dependence: float = 0.0,
        on_r: tuple[str, ...] = (),
        directions: int = 0,
    ) -> None:
        for name, value, choices in (("pipeline", pipeline, Pipeline), ("positives", positives, Positives)):
            if value not in get_args(choices):
                raise ValueError(f"The {name} is one of {', '.join(get_args(choices))}; got {value!r}.")
        super().__init__(
            encoder, head, embedding=embedding, subembeddings=subembeddings, temperature=temperature
        )
        weights = (infomin, orthogonality, permuted_orthogonality, hessian, correlation, dependence)
        self.weights: dict[str, float] = dict(zip(REGULARISERS, weights, strict=True))
        require_nonnegative(**self.weights)
        for name in on_r:
            if name not in REGULARISERS:
                raise ValueError(f"on_r names regularisers among {', '.join(REGULARISERS)}; got {name!r}.")
        if any(weights) and subembeddings < 2:
            raise ValueError("A regulariser keeps subembeddings apart, so there must be at least 2; got 1.")
        self.pipeline: Pipeline = pipeline
        self.positives: Positives = positives
        self.on_r = on_r
        self.directions = directions
        if directions:
            self._turnable()

    @classmethod
    def splits(cls, settings: Mapping[str, Any]) -> bool:
        return cls.setting(settings, "pipeline") != "unified"

    def normalise(self, z: Codes) -> Codes:
        if self.pipeline == "unified":
            return F.normalize(z, dim=1)
        z_k = unit_parts(z, self.subembeddings)
        if self.pipeline == "balanced":
            z_k = z_k / self.subembeddings**0.5  # z has length 1
        return z_k.flatten(1)

    def _turnable(self) -> None:
        """Makes room for directions; before the last step they are the first dimensions of every part."""
        size = self.subembeddings * self.directions
        if not 0 < size <= self.embedding or self.positives != "label" or self.subembeddings < 2:
            raise ValueError(
                "Directions are found for at least 2 subembeddings by the joint labels (positives=label), and all "
                f"together are no more than the embedding's dimensions; got {self.subembeddings} subembeddings of "
                f"{self.directions} for {self.embedding} dimensions, positives={self.positives}."
            )
        self.fewest_labels = size + 1
        features = features_of(self.encoder)
        parts = parts_of("z", features, size, self.subembeddings)
        self._strands = Strands(
            parts_of("r", 0, features, self.subembeddings) | parts, size=features + size, default="z"
        )
        each = torch.eye(self.embedding).unflatten(1, (self.subembeddings, -1))[:, :, : self.directions]
        self.register_buffer("centre", torch.zeros(self.embedding))
        self.register_buffer("matrix", each.flatten(1).contiguous())

    def finish(self, batches: Iterable[ViewBatch]) -> None:
        if not self.directions:
            return
        z, labels = [], []
        for batch in batches:
            z.append(self.represent(both_views(batch))[1])
            labels.append(cast(Tensor, batch.labels).repeat(2))
        found = independent_parts(
            torch.cat(z), torch.cat(labels), parts=self.subembeddings, directions=self.directions
        )
        cast(Tensor, self.centre).copy_(found.centre)
        cast(Tensor, self.matrix).copy_(found.matrix)

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        r, z = self.represent(x)
        if self.directions:
            z = (z - cast(Tensor, self.centre)) @ cast(Tensor, self.matrix)
        return torch.cat([r, z], 1)

    def loss(self, batch: ViewBatch) -> Terms:
        r, z = self.views(batch)
        chosen = self.choose(batch)
        infomax = self.infomax(z.flatten(0, 1), chosen)
        R = {name: self.regulariser(name, r, z, chosen) for name, weight in self.weights.items() if weight}
        total = infomax
        for name, amount in R.items():
            total = total + self.weights[name] * amount
        return Terms(total, {"infomax": infomax, **R})

    def choose(self, batch: ViewBatch) -> "Chosen":
        """Which views are positives of each view, and which neither positives nor negatives."""
        if self.positives == "label":
            return Chosen(same_label(batch.labels))
        masked = same_label(batch.labels) if self.positives == "view-pair-masked" else None
        return Chosen(same_pair(batch), masked)

    def infomax(self, z: Codes, chosen: "Chosen") -> Scalar:
        """Eq. 2, a sum over the subembeddings; Eq. 1 for a pipeline with one InfoMax."""
        terms = [
            contrast(part, chosen.positives, temperature=self.temperature, ignored=chosen.ignored)
            for part in self._contrasted(z)
        ]
        return torch.stack(terms).sum()

    def regulariser(self, name: str, r: FeatureViews, z: Views, chosen: "Chosen") -> Scalar:
        """R, of z or of r."""
        on_r = name in self.on_r
        if name == "hessian":
            by, codes = (self.gradient_by_r, r) if on_r else (self.gradient_by_z, z)
            gradient = by(codes.flatten(0, 1), chosen)
            return hessian_blocks(gradient.unflatten(1, (self.subembeddings, -1)))
        first, second = (unit_parts(view, self.subembeddings) for view in (r if on_r else z).unbind(1))
        if name == "infomin":  # within each view
            both = [infomin(view, temperature=self.temperature) for view in (first, second)]
            return torch.stack(both).mean()
        if name == "dependence":
            return dependence(torch.cat([first, second]))
        if name == "correlation":
            return correlation(torch.cat([first, second]))
        return orthogonality(first, second, permuted=name == "permuted_orthogonality")

    def gradient_by_z(self, z: Codes, chosen: "Chosen") -> Codes:
        """Of the sum of all rows' InfoMax, by the embedding of unit length: by one that is not yet normalised, the
        gradient would shrink as embeddings grow, and R with it."""
        parts = [
            contrast_gradient(part, chosen.positives, temperature=self.temperature, ignored=chosen.ignored)
            for part in self._contrasted(z)
        ]
        return torch.cat(parts, 1)

    def gradient_by_r(self, r: Features, chosen: "Chosen") -> Features:
        """The same by the features brought to unit length, their length held."""
        further = torch.is_grad_enabled()
        with torch.enable_grad():  # a validation has no gradients, and this needs one
            unit = F.normalize(r, dim=1)
            unit = unit if unit.requires_grad else unit.requires_grad_()
            length = r.norm(dim=1, keepdim=True)
            z = self.normalise(self.head(unit * length).to(r.dtype))
            by_z = self.gradient_by_z(z, chosen)
            return torch.autograd.grad(z, unit, by_z, create_graph=further)[0]

    def _contrasted(self, z: Codes) -> tuple[Float[Tensor, "b e"], ...]:
        """What has an InfoMax of its own."""
        return z.chunk(self.subembeddings, 1) if self.pipeline == "separate" else (z,)


class Chosen(NamedTuple):
    """Rows are the views of this process, columns those of the joined batch."""

    positives: Bool[Tensor, "v n"]
    ignored: Bool[Tensor, "v n"] | None = None
