"""What all variational autoencoders here have: an encoder, a decoder and a likelihood."""

import torch
from torch import Tensor, nn

from unbraid.methods.base import B, Method
from unbraid.objectives.likelihoods import Likelihood
from unbraid.strands import Strands
from unbraid.types import Codes, Gaussian, Observations


class Autoencoder(Method[B]):
    """A method whose code is the mean of a Gaussian posterior; its loss is left to the method."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, likelihood: Likelihood) -> None:
        super().__init__()
        codes = getattr(encoder, "codes", None)
        if not isinstance(codes, int):
            raise ValueError(
                "An encoder needs an attribute `codes`, the number of dimensions of its code; "
                f"{type(encoder).__name__} has {'none' if codes is None else codes}."
            )
        self.encoder, self.decoder, self.likelihood = encoder, decoder, likelihood
        self._strands = Strands.cut(codes=codes)

    @property
    def strands(self) -> Strands:
        return self._strands

    def posterior(self, x: Observations) -> Gaussian:
        """q(z|x), in the precision of x: a network under autocast may put out less."""
        mean, logvar = self.encoder(x)
        return Gaussian(mean.to(x.dtype), logvar.to(x.dtype))

    def posteriors(self, x1: Observations, x2: Observations) -> tuple[Gaussian, Gaussian]:
        """q(z|x1) and q(z|x2) by one joined forward, so that batch statistics are of both."""
        mean, logvar = self.posterior(torch.cat([x1, x2]))
        (mean1, mean2), (logvar1, logvar2) = mean.chunk(2), logvar.chunk(2)
        return Gaussian(mean1, logvar1), Gaussian(mean2, logvar2)

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return self.posterior(x).mean

    def decode(self, codes: Codes, given: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decoded(codes, given))

    def decoded(self, codes: Codes, given: Tensor | None = None) -> Observations:
        """What the decoder puts out, the parameters of p(x|z), in the precision of the codes."""
        return self.decoder(codes).to(codes.dtype)
