"""The networks of InfoGAN-CR. Lin et al., 2020, InfoGAN-CR and ModelCentrality, arXiv:1906.06034, for dSprites.

Images whose side is a multiple of 16 get convolutions; other observations are flattened. All weights are initialized
from a normal distribution with standard deviation 0.02 and all biases to zero, as in the authors' code: with PyTorch's
default initialization the generator soon collapses to one image.
"""

from math import prod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Decoder, Network
from unbraid.nn.batch_norm import BatchNorm1d, BatchNorm2d
from unbraid.nn.spectral import SpectralConv, SpectralLinear, apply_layers, normalized_weights
from unbraid.nn.strided_conv import UpConv
from unbraid.types import Codes, Observations

CHANNELS = (32, 32, 64, 64)
SLOPE = 0.2
INIT_STD = 0.02


class Generator(Decoder):
    """Decoder from latents to the parameters of observations: logits for images.

    Layers of 128 and 1024 with ReLU, transposed convolutions of 64, 32 and 32 channels with leaky ReLU of slope 0.2,
    each with batch normalization, and a last one to the image.

    Args:
        latent_dim: Number of latents, noise included.
        shape: Shape of one observation.
        hidden: Width of the first layer.
    """

    def __init__(self, latent_dim: int, shape: tuple[int, ...], *, hidden: int = 128) -> None:
        super().__init__()
        self.latent_dim, self.shape = latent_dim, shape
        modules: list[nn.Module] = [nn.Linear(latent_dim, hidden), nn.ReLU(), BatchNorm1d(hidden)]
        if not _fits_convolutions(shape):
            modules += [nn.Linear(hidden, prod(shape)), nn.Unflatten(1, tuple(shape))]
            self.layers = nn.Sequential(*modules)
            _init_weights(self)
            return
        maps, before = shape[1] // 16, CHANNELS[-1]
        flat = before * maps**2
        modules += [
            nn.Linear(hidden, flat),
            nn.ReLU(),
            BatchNorm1d(flat),
            nn.Unflatten(1, (before, maps, maps)),
        ]
        for after in CHANNELS[-2::-1]:
            modules += [UpConv(before, after), nn.LeakyReLU(SLOPE), BatchNorm2d(after)]
            before = after
        self.layers = nn.Sequential(*modules, UpConv(before, shape[0]))
        _init_weights(self)

    def forward(self, z: Codes) -> Observations:
        return self.layers(z)


class Discriminator(Network):
    """Network from observations to a logit (real or generated) and to a prediction of the generating codes (Q).

    Convolutions of 32, 32, 64 and 64 channels and a layer of 128, leaky ReLU of slope 0.2; Q has a further layer of
    128. Every weight is spectrally normalized.

    Args:
        shape: Shape of one observation.
        latent_dim: Number of dimensions that Q predicts.
        hidden: Width of the layers.
    """

    def __init__(self, shape: tuple[int, ...], latent_dim: int, *, hidden: int = 128) -> None:
        super().__init__()
        self.shape, self.latent_dim = shape, latent_dim
        self.trunk = _trunk(shape, hidden)
        self.real = SpectralLinear(hidden, 1)
        self.guess = nn.Sequential(
            SpectralLinear(hidden, hidden), nn.LeakyReLU(SLOPE), SpectralLinear(hidden, latent_dim)
        )
        _init_weights(self)

    def forward(self, x: Observations) -> tuple[Float[Tensor, " b"], Codes]:
        weights = normalized_weights(self)
        features = apply_layers(self.trunk, x, weights)
        return self.real(features, next(weights))[:, 0], apply_layers(self.guess, features, weights)


class PairCritic(Network):
    """Network from two observations to one logit per dimension: the dimension in which their codes agree.

    The layers of the discriminator on both observations, concatenated along channels; the last weight is not
    normalized.

    Args:
        shape: Shape of one observation.
        latent_dim: Number of dimensions.
        hidden: Width of the layer before the logits.
    """

    def __init__(self, shape: tuple[int, ...], latent_dim: int, *, hidden: int = 128) -> None:
        super().__init__()
        self.shape, self.latent_dim = shape, latent_dim
        self.trunk = _trunk((2 * shape[0], *shape[1:]), hidden)
        self.logits = nn.Linear(hidden, latent_dim)
        _init_weights(self)

    def forward(self, x1: Observations, x2: Observations) -> Float[Tensor, "b d"]:
        return self.logits(apply_layers(self.trunk, torch.cat([x1, x2], 1), normalized_weights(self)))


def _trunk(shape: tuple[int, ...], hidden: int) -> nn.Sequential:
    if not _fits_convolutions(shape):
        return nn.Sequential(nn.Flatten(), SpectralLinear(prod(shape), hidden), nn.LeakyReLU(SLOPE))
    modules: list[nn.Module] = []
    before = shape[0]
    for after in CHANNELS:
        modules += [SpectralConv(before, after), nn.LeakyReLU(SLOPE)]
        before = after
    flat = before * (shape[1] // 16) ** 2
    return nn.Sequential(*modules, nn.Flatten(), SpectralLinear(flat, hidden), nn.LeakyReLU(SLOPE))


def _init_weights(network: nn.Module) -> None:
    """Initializes weights and biases."""
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            nn.init.normal_(module.weight, std=INIT_STD)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def _fits_convolutions(shape: tuple[int, ...]) -> bool:
    return len(shape) == 3 and shape[1] == shape[2] and shape[1] % 16 == 0
