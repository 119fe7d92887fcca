"""What all contrastive methods here have: features r, an embedding z, and equal parts of both."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.distributed import gather, processes, rank
from unbraid.methods.base import Facts, Method, Player
from unbraid.nn import Projection, extractor
from unbraid.optimisers import Adam
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Codes, Observations, ViewBatch

Features = Float[Tensor, "b f"]
FeatureViews = Float[Tensor, "b 2 f"]  # r of the two views of each pair
Views = Float[Tensor, "b 2 d"]  # z of the two views of each pair
RATE = Adam(1e-3)  # SimCLR's papers have rates by batch size, for other optimisers; this one has none


class Contrastive(Method[ViewBatch]):
    """A method whose code is [r, z]: what the encoder puts out, and the head's embedding of unit length.

    Both are cut into K equal parts r0, r1, … and z0, z1, …; its loss is left to the method.
    """

    sizes_strands = True

    def __init__(
        self, encoder: nn.Module, head: nn.Module, *, embedding: int, subembeddings: int, temperature: float
    ) -> None:
        super().__init__()
        require_temperature(temperature)
        features = features_of(encoder)
        require_division(embedding, subembeddings, "embedding")
        require_division(features, subembeddings, "features")
        if head.codes != embedding:
            raise ValueError(f"The head puts out {head.codes} dimensions, and the embedding has {embedding}.")
        self.encoder, self.head, self.temperature = encoder, head, temperature
        self.embedding, self.subembeddings = embedding, subembeddings
        self._strands = Strands(
            parts_of("r", 0, features, subembeddings) | parts_of("z", features, embedding, subembeddings),
            size=features + embedding,
            default="z",
        )

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts: dict[str, Any] = {}
        if "encoder" in wanted:
            parts["encoder"] = extractor(facts.architecture, facts.shape)
        if "head" in wanted:
            features = features_of(parts.get("encoder") or settings["encoder"])
            count, codes = cls.setting(settings, "subembeddings"), cls.setting(settings, "embedding")
            require_division(codes, count, "embedding")
            require_division(features, count, "features")
            parts["head"] = Projection(features, codes, heads=count if cls.splits(settings) else 1)
        return parts

    @classmethod
    def splits(cls, settings: Mapping[str, Any]) -> bool:
        """Whether each part of r has a head of its own."""
        return False

    @property
    def strands(self) -> Strands:
        return self._strands

    def represent(self, x: Observations) -> tuple[Features, Codes]:
        """The features r and the embedding z, in the precision of x."""
        r = self.encoder(x)
        return r.to(x.dtype), self.normalise(self.head(r).to(x.dtype))

    def normalise(self, z: Codes) -> Codes:
        """The embedding brought to length 1."""
        return F.normalize(z, dim=1)

    def views(self, batch: ViewBatch) -> tuple[FeatureViews, Views]:
        """r and z of both views, by one joined forward, so that batch statistics are of both."""
        r, z = self.represent(both_views(batch))
        return torch.stack(r.chunk(2), 1), torch.stack(z.chunk(2), 1)

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return torch.cat(self.represent(x), 1)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, RATE),)


def features_of(encoder: nn.Module) -> int:
    """How many features an encoder puts out."""
    features = getattr(encoder, "features", None)
    if not isinstance(features, int):
        raise ValueError(
            "An encoder needs an attribute `features`, the number of features that it puts out; "
            f"{type(encoder).__name__} has {'none' if features is None else features}."
        )
    return features


def parts_of(name: str, start: int, size: int, count: int) -> dict[str, range]:
    """A strand, and its equal parts under its name and a number."""
    width = size // count
    parts = {f"{name}{k}": range(start + k * width, start + (k + 1) * width) for k in range(count)}
    return {name: range(start, start + size)} | parts


def both_views(batch: ViewBatch) -> Observations:
    """All first views, then all second ones; raises where there is nothing to contrast a pair with."""
    if len(batch.x1) * processes() < 2:
        raise ValueError("A contrast needs a batch of at least two pairs; got 1.")
    return torch.cat([batch.x1, batch.x2])


def same_pair(batch: ViewBatch) -> Bool[Tensor, "v n"]:
    """Which views of the joined batch belong to the pair of each view here; rows are view by view of each pair."""
    local = len(batch.x1)
    here = torch.arange(local, device=batch.x1.device).repeat_interleave(2) + rank() * local
    everyone = torch.arange(local * processes(), device=batch.x1.device).repeat_interleave(2)
    return here[:, None] == everyone[None]


def same_label(labels: Tensor | None, labels2: Tensor | None = None) -> Bool[Tensor, "v n"]:
    """Which views of the joined batch have the label of each view here; `labels2` are those of the second views."""
    if labels is None:
        raise ValueError(
            "This method learns from labels, and the batch has none: use a dataset with a label, or one whose views "
            "share factors."
        )
    both = torch.stack([labels, labels if labels2 is None else labels2], 1).flatten()
    return both[:, None] == gather(both)[None]


def require_temperature(temperature: float) -> None:
    """Raises unless similarities can be divided by it."""
    require_nonnegative(temperature=temperature)
    if temperature == 0:
        raise ValueError("temperature must be above 0, since similarities are divided by it; got 0.0.")


def require_division(size: int, count: int, what: str) -> None:
    """Raises unless there are equal parts."""
    if count < 1 or size < count or size % count:
        raise ValueError(
            f"The {size} dimensions of the {what} do not divide into {count} equal subembeddings: choose a "
            "number of subembeddings that divides them."
        )
