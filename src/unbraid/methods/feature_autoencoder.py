"""Base of the intervention autoencoders: a code of K features of D dimensions."""

import abc

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from unbraid.distributed import local_shard, random_for_global_batch
from unbraid.methods.base import Method
from unbraid.methods.predictor import require_codes
from unbraid.nn import HasLatentDim
from unbraid.objectives import Likelihood
from unbraid.strands import Strands, feature_strands
from unbraid.types import Batch, Codes, Observations, Terms


class FeatureAutoencoder(Method[Batch], abc.ABC):
    """An autoencoder whose code consists of features; subclasses define the encoding and the loss."""

    code_size_options = ("num_features", "feature_dim")

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        num_features: int,
        feature_dim: int,
        likelihood: Likelihood,
    ) -> None:
        super().__init__()
        if num_features < 2 or feature_dim < 1:
            raise ValueError(
                "num_features must be at least 2 and feature_dim at least 1; "
                f"got num_features={num_features}, feature_dim={feature_dim}."
            )
        _require_networks(encoder, decoder, num_features, feature_dim)
        self.encoder, self.decoder, self.likelihood = encoder, decoder, likelihood
        self.num_features, self.feature_dim = num_features, feature_dim
        self._strands = feature_strands(num_features, feature_dim)

    @property
    def strands(self) -> Strands:
        return self._strands

    @property
    def feature_strands(self) -> tuple[str, ...]:
        """The strands of the features; none where features have one dimension each."""
        return tuple(self.strands)[1:]

    def sample_feature_mask(self, z: Codes) -> Bool[Tensor, "b d"]:
        """The dimensions of one feature per image, drawn uniformly."""
        u = local_shard(random_for_global_batch(torch.rand, z, self.num_features))
        return self.pick_feature(u)

    def pick_feature(self, u: Float[Tensor, "b k"]) -> Bool[Tensor, "b d"]:
        """The dimensions of the feature with the largest of the numbers in [0, 1]."""
        return (u == u.amax(1, keepdim=True)).repeat_interleave(self.feature_dim, 1)

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decode_parameters(codes, condition))

    def decode_parameters(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        """The output of the decoder: the parameters of p(x|z)."""
        return self.decoder(codes).to(codes.dtype)

    def validation_loss(self, batch: Batch) -> Terms:
        """The reconstruction loss."""
        nll = self.likelihood.nll(self.decode_parameters(self.encode(batch.x)), batch.x)
        return Terms(nll, {"nll": nll})


def _require_networks(encoder: nn.Module, decoder: nn.Module, num_features: int, feature_dim: int) -> None:
    """Raises unless encoder and decoder have the size of the code."""
    latent_dim = num_features * feature_dim
    require_codes(encoder, latent_dim)
    if isinstance(decoder, HasLatentDim) and decoder.latent_dim != latent_dim:
        raise ValueError(
            f"{num_features} features of {feature_dim} dimensions make a code of {latent_dim} dimensions, and the "
            f"decoder takes {decoder.latent_dim}. Pass a decoder of {latent_dim} dimensions."
        )
