"""The base class of variational autoencoders: an encoder, a decoder and a likelihood."""

import torch
from torch import Tensor, nn

from unbraid.methods.base import B, Method
from unbraid.nn import latent_dim_of
from unbraid.objectives import Likelihood
from unbraid.strands import Strands
from unbraid.types import Codes, Gaussian, Observations


class Autoencoder(Method[B]):
    """A method whose code is the mean of a Gaussian posterior; the subclass defines the loss."""

    family = "Variational autoencoders"

    def __init__(self, encoder: nn.Module, decoder: nn.Module, likelihood: Likelihood) -> None:
        super().__init__()
        self.encoder, self.decoder, self.likelihood = encoder, decoder, likelihood
        self._strands = Strands.from_sizes(codes=latent_dim_of(encoder))

    @property
    def strands(self) -> Strands:
        return self._strands

    def posterior(self, x: Observations) -> Gaussian:
        """q(z|x), in the precision of x: the output of a network under autocast may have less."""
        mean, logvar = self.encoder(x)
        return Gaussian(mean.to(x.dtype), logvar.to(x.dtype))

    def posteriors(self, x1: Observations, x2: Observations) -> tuple[Gaussian, Gaussian]:
        """q(z|x1) and q(z|x2) from one forward pass, so that batch statistics cover both."""
        mean, logvar = self.posterior(torch.cat([x1, x2]))
        (mean1, mean2), (logvar1, logvar2) = mean.chunk(2), logvar.chunk(2)
        return Gaussian(mean1, logvar1), Gaussian(mean2, logvar2)

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.posterior(x).mean

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decode_parameters(codes, condition))

    def decode_parameters(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        """The output of the decoder, the parameters of p(x|z), in the precision of the codes."""
        return self.decoder(codes).to(codes.dtype)
