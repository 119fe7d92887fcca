"""Projection heads: the shallow network between the features and what the contrast sees.

Chen et al., 2020, A Simple Framework for Contrastive Learning of Visual Representations, arXiv:2002.05709; several of
them, one for each part of the features: Burns et al., 2021, Unsupervised Disentanglement without Autoencoding.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network
from unbraid.nn.batch_norm import BatchNorm1d


class Projection(Network):
    """Features to embeddings: the features are cut into equal parts, and each goes through a head of its own.

    A head is a layer as wide as its part of the features, a ReLU, and a layer without activation, each layer with
    batch normalisation as SimCLR's code has it (Burns et al. say no more than "a shallow MLP"). The last
    normalisation keeps every dimension in use; without it training begins with all embeddings alike, and may stay
    there. Weights start as PyTorch's defaults.

    Args:
        features: How many come in.
        codes: The dimensions of the embedding, of all heads together.
        heads: How many.
    """

    def __init__(self, features: int, codes: int, *, heads: int = 1) -> None:
        super().__init__()
        if heads < 1 or features % heads or codes % heads or codes < heads:
            raise ValueError(
                f"{heads} heads need features and an embedding that divide by {heads}; got {features} and {codes}."
            )
        self.features, self.codes = features, codes
        before, after = features // heads, codes // heads
        self.heads = nn.ModuleList(
            nn.Sequential(
                nn.Linear(before, before, bias=False),
                BatchNorm1d(before),
                nn.ReLU(),
                nn.Linear(before, after, bias=False),
                BatchNorm1d(after, affine=False),
            )
            for _ in range(heads)
        )

    def forward(self, r: Float[Tensor, "b f"]) -> Float[Tensor, "b d"]:
        parts = r.chunk(len(self.heads), 1)
        return torch.cat([head(part) for head, part in zip(self.heads, parts, strict=True)], 1)
