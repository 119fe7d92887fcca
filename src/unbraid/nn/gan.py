"""The networks of InfoGAN-CR. Lin et al., 2020, InfoGAN-CR and ModelCentrality, arXiv:1906.06034, for dSprites.

Images whose side is a multiple of 16 get convolutions; other observations are laid out flat. All weights start normal
with a spread of 0.02 and all biases at zero, as the authors' do: from PyTorch's defaults the generator soon makes one
image alone.
"""

from math import prod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.nn.base import Decoder, Network
from unbraid.nn.batch_norm import BatchNorm1d, BatchNorm2d
from unbraid.nn.halving import Doubling
from unbraid.nn.spectral import SpectralConv, SpectralLinear, normalised_weights, through
from unbraid.types import Codes, Observations

CHANNELS = (32, 32, 64, 64)
SLOPE = 0.2
SPREAD = 0.02  # of the first weights


class Generator(Decoder):
    """Latents to the parameters of observations: logits for images.

    Layers of 128 and 1024 with ReLU, transposed convolutions of 64, 32 and 32 channels with leaky ReLU of slope 0.2,
    all with batch normalisation after it, and a last one to the image.

    Args:
        codes: The number of latents, noise included.
        shape: Of one observation.
        hidden: The width of the first layer.
    """

    def __init__(self, codes: int, shape: tuple[int, ...], *, hidden: int = 128) -> None:
        super().__init__()
        self.codes, self.shape = codes, shape
        modules: list[nn.Module] = [nn.Linear(codes, hidden), nn.ReLU(), BatchNorm1d(hidden)]
        if not _convolved(shape):
            modules += [nn.Linear(hidden, prod(shape)), nn.Unflatten(1, tuple(shape))]
            self.layers = nn.Sequential(*modules)
            _start(self)
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
            modules += [Doubling(before, after), nn.LeakyReLU(SLOPE), BatchNorm2d(after)]
            before = after
        self.layers = nn.Sequential(*modules, Doubling(before, shape[0]))
        _start(self)

    def forward(self, z: Codes) -> Observations:
        return self.layers(z)


class Discriminator(Network):
    """Observations to a logit, real or made, and to a guess of the codes they were made from (Q).

    Convolutions of 32, 32, 64 and 64 channels and a layer of 128, leaky ReLU of slope 0.2; Q has a further layer of
    128. Every weight is spectrally normalised.

    Args:
        shape: Of one observation.
        codes: How many codes Q guesses.
        hidden: The width of the layers.
    """

    def __init__(self, shape: tuple[int, ...], codes: int, *, hidden: int = 128) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        self.trunk = _trunk(shape, hidden)
        self.real = SpectralLinear(hidden, 1)
        self.guess = nn.Sequential(
            SpectralLinear(hidden, hidden), nn.LeakyReLU(SLOPE), SpectralLinear(hidden, codes)
        )
        _start(self)

    def forward(self, x: Observations) -> tuple[Float[Tensor, " b"], Codes]:
        weights = normalised_weights(self)
        features = through(self.trunk, x, weights)
        return self.real(features, next(weights))[:, 0], through(self.guess, features, weights)


class PairCritic(Network):
    """Two observations to a logit for each code: which one they share.

    The discriminator's layers on both, laid one behind the other; the last weight is not normalised.

    Args:
        shape: Of one observation.
        codes: How many codes there are.
        hidden: The width of the layer before the logits.
    """

    def __init__(self, shape: tuple[int, ...], codes: int, *, hidden: int = 128) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        self.trunk = _trunk((2 * shape[0], *shape[1:]), hidden)
        self.logits = nn.Linear(hidden, codes)
        _start(self)

    def forward(self, x1: Observations, x2: Observations) -> Float[Tensor, "b d"]:
        return self.logits(through(self.trunk, torch.cat([x1, x2], 1), normalised_weights(self)))


def _trunk(shape: tuple[int, ...], hidden: int) -> nn.Sequential:
    if not _convolved(shape):
        return nn.Sequential(nn.Flatten(), SpectralLinear(prod(shape), hidden), nn.LeakyReLU(SLOPE))
    modules: list[nn.Module] = []
    before = shape[0]
    for after in CHANNELS:
        modules += [SpectralConv(before, after), nn.LeakyReLU(SLOPE)]
        before = after
    flat = before * (shape[1] // 16) ** 2
    return nn.Sequential(*modules, nn.Flatten(), SpectralLinear(flat, hidden), nn.LeakyReLU(SLOPE))


def _start(network: nn.Module) -> None:
    """Sets the first weights."""
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
            nn.init.normal_(module.weight, std=SPREAD)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def _convolved(shape: tuple[int, ...]) -> bool:
    return len(shape) == 3 and shape[1] == shape[2] and shape[1] % 16 == 0
