"""Supervised subembeddings. Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, ICML workshop,
App. A.2."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.methods.base import BuildSpec, Method, Player
from unbraid.methods.view_contrastive import (
    DEFAULT_OPTIMIZER,
    both_views,
    equal_strands,
    features_of,
    require_divisible,
    require_temperature,
    same_label,
)
from unbraid.nn import BatchNorm1d, backbone
from unbraid.objectives import info_nce, unit_subembeddings
from unbraid.strands import Strands
from unbraid.types import Codes, Observations, Terms, ViewBatch


class SupervisedSubembeddings(Method[ViewBatch]):
    r"""Supervised contrastive learning in which each strand of the features uses the labels of one factor.

    .. math:: L = \sum_k \frac1{2b} \sum_i \frac{-1}{|P_k(i)|} \sum_{p ∈ P_k(i)}
              \log \frac{\exp(r_{i,k} \cdot r_{p,k} / τ)}{\sum_{a ≠ i} \exp(r_{i,k} \cdot r_{a,k} / τ)}

    with :math:`P_k(i)` the other views with the same value of factor k as i: an upper bound for methods without these
    labels. The factors are the first K of the dataset; each strand is normalized to length 1.

    Args:
        encoder: Network from observations to features r; needs an attribute `features`.
        num_subembeddings: Number K of strands and factors.
        temperature: Temperature τ of the softmax over similarities.
        standardize_features: Whether the loss uses features with mean 0 and variance 1 over the batch. At the
            start, features of a deep network are nearly parallel; without standardization, the strand of a difficult
            factor may remain so.
    """

    family = "Without a decoder"
    code_size_options = ("architecture",)  # its number of features

    def __init__(
        self,
        encoder: nn.Module,
        *,
        num_subembeddings: int = 2,
        temperature: float = 0.1,  # not given in the paper
        standardize_features: bool = False,
    ) -> None:
        super().__init__()
        require_temperature(temperature)
        features = features_of(encoder)
        require_divisible(features, num_subembeddings, "features")
        self.encoder, self.num_subembeddings, self.temperature = encoder, num_subembeddings, temperature
        self.standardize = BatchNorm1d(features, affine=False) if standardize_features else nn.Identity()
        self._strands = Strands(
            equal_strands("r", 0, features, num_subembeddings), size=features, default="r"
        )

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"encoder": backbone(spec.architecture, spec.shape)} if "encoder" in missing else {}

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: ViewBatch) -> Terms:
        first, second = batch.factors, batch.factors2
        if first is None or second is None or first.shape[1] < self.num_subembeddings:
            raise ValueError(
                f"{self.name()} requires the values of {self.num_subembeddings} factors, and the batch has "
                f"{0 if first is None else first.shape[1]}. Use a dataset with factors, such as mnist-stl10."
            )
        r = torch.stack(self.encode(both_views(batch)).chunk(2), 1).flatten(0, 1)
        r_k = unit_subembeddings(self.standardize(r), self.num_subembeddings)
        infomax = [
            info_nce(r_k[:, k], same_label(first[:, k], second[:, k]), temperature=self.temperature)
            for k in range(self.num_subembeddings)
        ]
        return Terms(torch.stack(infomax).sum(), {f"infomax{k}": term for k, term in enumerate(infomax)})

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, DEFAULT_OPTIMIZER),)
