"""Base of the methods that contrast two views: features r, an embedding z, and equal strands of both."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.distributed import all_gather, rank, world_size
from unbraid.methods.base import BuildSpec, Method, Player
from unbraid.nn import HasFeatures, Projection, backbone
from unbraid.optimizers import Adam
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, Observations, ViewBatch

Features = Float[Tensor, "b f"]
FeatureViews = Float[Tensor, "b 2 f"]  # r of the two views of each pair
Views = Float[Tensor, "b 2 d"]  # z of the two views of each pair
DEFAULT_OPTIMIZER = Adam(1e-3)  # SimCLR and SupCon use other optimizers; Burns et al. give none


class ViewContrastive(Method[ViewBatch]):
    """A method whose code is [r, z]: the features of the encoder and the embedding of the head, of unit length.

    Both are divided into K equal strands r0, r1, … and z0, z1, …; subclasses define the loss.
    """

    family = "Without a decoder"
    code_size_options = ("embedding_dim",)

    def __init__(
        self,
        encoder: nn.Module,
        head: nn.Module,
        *,
        embedding_dim: int,
        num_subembeddings: int,
        temperature: float,
    ) -> None:
        super().__init__()
        require_temperature(temperature)
        features = features_of(encoder)
        require_divisible(embedding_dim, num_subembeddings, "embedding")
        require_divisible(features, num_subembeddings, "features")
        if head.latent_dim != embedding_dim:
            raise ValueError(
                f"The head must have latent_dim = embedding_dim = {embedding_dim}; it has {head.latent_dim}."
            )
        self.encoder, self.head, self.temperature = encoder, head, temperature
        self.embedding_dim, self.num_subembeddings = embedding_dim, num_subembeddings
        self._strands = Strands(
            equal_strands("r", 0, features, num_subembeddings)
            | equal_strands("z", features, embedding_dim, num_subembeddings),
            size=features + embedding_dim,
            default="z",
        )

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        if "encoder" in missing:
            arguments["encoder"] = backbone(spec.architecture, spec.shape)
        if "head" in missing:
            features = features_of(arguments.get("encoder") or settings["encoder"])
            count, embedding_dim = (
                cls.option(settings, name) for name in ("num_subembeddings", "embedding_dim")
            )
            require_divisible(embedding_dim, count, "embedding")
            require_divisible(features, count, "features")
            arguments["head"] = Projection(
                features, embedding_dim, heads=count if cls.has_separate_heads(settings) else 1
            )
        return arguments

    @classmethod
    def has_separate_heads(cls, settings: Mapping[str, Any]) -> bool:
        """Whether each strand of r has its own head."""
        return False

    @property
    def strands(self) -> Strands:
        return self._strands

    def features_and_embedding(self, x: Observations) -> tuple[Features, Codes]:
        """The features r and the embedding z, in the precision of x."""
        r = self.encoder(x)
        return r.to(x.dtype), self.normalize(self.head(r).to(x.dtype))

    def normalize(self, z: Codes) -> Codes:
        """The embedding brought to length 1."""
        return F.normalize(z, dim=1)

    def views(self, batch: ViewBatch) -> tuple[FeatureViews, Views]:
        """r and z of both views from one forward pass, so that batch statistics are of both."""
        r, z = self.features_and_embedding(both_views(batch))
        return torch.stack(r.chunk(2), 1), torch.stack(z.chunk(2), 1)

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return torch.cat(self.features_and_embedding(x), 1)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, DEFAULT_OPTIMIZER),)


def features_of(encoder: nn.Module) -> int:
    """The number of features of an encoder."""
    features = encoder.features if isinstance(encoder, HasFeatures) else None
    if not isinstance(features, int):
        raise ValueError(
            "An encoder requires an attribute `features`, the number of its outputs; "
            f"{type(encoder).__name__} has {'none' if features is None else features}."
        )
    return features


def equal_strands(name: str, start: int, size: int, count: int) -> dict[str, range]:
    """A strand and its equal strands, named by a number after the name."""
    width = size // count
    strands = {f"{name}{k}": range(start + k * width, start + (k + 1) * width) for k in range(count)}
    return {name: range(start, start + size)} | strands


def both_views(batch: ViewBatch) -> Observations:
    """All first views, then all second views; raises if the global batch has fewer than two pairs."""
    if len(batch.x1) * world_size() < 2:
        raise ValueError(
            "Contrastive learning requires a batch of at least two pairs; got 1. Increase --batch-size."
        )
    return torch.cat([batch.x1, batch.x2])


def same_pair(batch: ViewBatch) -> Bool[Tensor, "v n"]:
    """Which views of the global batch belong to the pair of each local view; the two views of a pair are adjacent."""
    local = len(batch.x1)
    local_pairs = torch.arange(local, device=batch.x1.device).repeat_interleave(2) + rank() * local
    all_pairs = torch.arange(local * world_size(), device=batch.x1.device).repeat_interleave(2)
    return local_pairs[:, None] == all_pairs[None]


def same_label(labels: Tensor | None, labels2: Tensor | None = None) -> Bool[Tensor, "v n"]:
    """Which views of the global batch have the label of each local view; `labels2` holds labels of the second views."""
    if labels is None:
        raise ValueError(
            "This method requires labels, and the batch has none. Use a dataset with a label or with views that share "
            "factors."
        )
    both = torch.stack([labels, labels if labels2 is None else labels2], 1).flatten()
    return both[:, None] == all_gather(both)[None]


def require_temperature(temperature: float) -> None:
    """Raises unless the temperature is positive."""
    require_nonnegative(temperature=temperature)
    if temperature == 0:
        raise ValueError("--temperature must be positive, because similarities are divided by it; got 0.0.")


def require_divisible(size: int, count: int, name: str) -> None:
    """Raises unless `count` equal strands fit into the size."""
    if count < 1 or size < count or size % count:
        raise ValueError(
            f"The number of subembeddings must divide the {size} dimensions of the {name}; got {count}. Change "
            "--num-subembeddings."
        )
