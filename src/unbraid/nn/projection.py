"""Projection heads: shallow networks between the features and the contrastive loss.

Chen et al., 2020, A Simple Framework for Contrastive Learning of Visual Representations, arXiv:2002.05709; one
head per strand of the features: Burns et al., 2021, Unsupervised Disentanglement without Autoencoding.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Network
from unbraid.nn.batch_norm import BatchNorm1d


class Projection(Network):
    """Network from features to embeddings: the features are divided into equal strands, one head each.

    A head is a layer as wide as its strand, a ReLU, and a layer without activation, each layer with batch normalization
    as in SimCLR's code (Burns et al. only say "a shallow MLP"). The last normalization keeps every dimension in use;
    without it all embeddings are nearly equal at the start and may stay so. Weights have PyTorch's default
    initialization.

    Args:
        features: Number of features.
        latent_dim: Number of dimensions of the embedding, over all heads.
        heads: Number of heads.
    """

    def __init__(self, features: int, latent_dim: int, *, heads: int = 1) -> None:
        super().__init__()
        if heads < 1 or features % heads or latent_dim % heads or latent_dim < heads:
            raise ValueError(
                f"The number of heads must divide the features and the embedding; got {heads} heads for {features} and "
                f"{latent_dim} dimensions."
            )
        self.features, self.latent_dim = features, latent_dim
        before, after = features // heads, latent_dim // heads
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
