"""Supervised subembeddings. Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, ICML workshop,
App. A.2."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods.base import Facts, Method, Player
from unbraid.methods.contrastive import (
    RATE,
    both_views,
    features_of,
    parts_of,
    require_division,
    require_temperature,
    same_label,
)
from unbraid.nn import extractor
from unbraid.nn.batch_norm import BatchNorm1d
from unbraid.objectives import contrast, unit_parts
from unbraid.strands import Strands
from unbraid.types import Codes, Observations, Terms, ViewBatch


class SupervisedSubembeddings(Method[ViewBatch]):
    r"""Each part of the features learns by contrast from the labels of a factor of its own.

    .. math:: L = \sum_k \frac1{2b} \sum_i \frac{-1}{|P_k(i)|} \sum_{p ∈ P_k(i)}
              \log \frac{\exp(r_{i,k} \cdot r_{p,k} / τ)}{\sum_{a ≠ i} \exp(r_{i,k} \cdot r_{a,k} / τ)}

    with :math:`P_k(i)` the other views with the value of factor k that i has: what comes apart when someone says
    what should. The factors are the dataset's first K, in its order; each part is brought to length 1.

    Args:
        encoder: Observations to features r; needs an attribute `features`.
        subembeddings: How many parts, and factors, K.
        temperature: τ.
        standardised: Whether the contrast sees features with mean 0 and variance 1 over the batch. Those of a deep
            network point almost one way at first, and the part of a factor that is hard to see may stay there.
    """

    sizes_strands = True

    def __init__(
        self,
        encoder: nn.Module,
        *,
        subembeddings: int = 2,
        temperature: float = 0.1,  # the paper gives none
        standardised: bool = False,
    ) -> None:
        super().__init__()
        require_temperature(temperature)
        features = features_of(encoder)
        require_division(features, subembeddings, "features")
        self.encoder, self.subembeddings, self.temperature = encoder, subembeddings, temperature
        self.standardise = BatchNorm1d(features, affine=False) if standardised else nn.Identity()
        self._strands = Strands(parts_of("r", 0, features, subembeddings), size=features, default="r")

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        return {"encoder": extractor(facts.architecture, facts.shape)} if "encoder" in wanted else {}

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: ViewBatch) -> Terms:
        first, second = batch.factors, batch.factors2
        if first is None or second is None or first.shape[1] < self.subembeddings:
            raise ValueError(
                f"{self.name()} learns from the values of {self.subembeddings} factors, and the batch has "
                f"{0 if first is None else first.shape[1]}: use a dataset with factors, such as mnist-stl10."
            )
        r = torch.stack(self.encode(both_views(batch)).chunk(2), 1).flatten(0, 1)
        r_k = unit_parts(self.standardise(r), self.subembeddings)
        infomax = [
            contrast(r_k[:, k], same_label(first[:, k], second[:, k]), temperature=self.temperature)
            for k in range(self.subembeddings)
        ]
        return Terms(torch.stack(infomax).sum(), {f"infomax{k}": term for k, term in enumerate(infomax)})

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, RATE),)
