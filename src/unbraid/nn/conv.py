"""The convolutional encoders and decoders of the field: four layers of stride 2, then fully connected ones.

All weights start as PyTorch's defaults (uniform, by the number of inputs).
"""

from typing import Literal, NamedTuple, get_args

from torch import nn
from torch.nn import functional as F

from unbraid.nn.base import Decoder, Encoder
from unbraid.nn.batch_norm import BatchNorm2d
from unbraid.nn.channelwise import Channelwise
from unbraid.nn.halving import Doubling, Halving
from unbraid.nn.standardise import Standardise
from unbraid.types import Codes, Gaussian, Images

Variant = Literal[
    "field",
    "disentanglement-lib",
    "factor-vae",
    "burgess",
    "contrast",
    "contrast-deep",
    "contrast-faces",
    "flowers",
    "flowers-judge",
]
SIDES = (28, 32, 48, 64, 96)


class Layers(NamedTuple):
    """Where the variants differ."""

    kernels: tuple[int, int, int, int] = (4, 4, 4, 4)  # of the encoder; the decoder always has 4
    channels: tuple[int, int, int, int] = (32, 32, 64, 64)  # the decoder has them in reverse
    hidden: tuple[int, ...] = (256,)  # between the convolutions and the codes
    linear: bool = False  # no activations after the encoder's convolutions
    stem: int = 0  # channels of one more convolution, at full size; 0 for none
    normalised: bool = False  # batch normalisation and leaky ReLU after each convolution, instead of ReLU
    slope: float = 0.0  # of the encoder's activations below 0


LAYERS: dict[Variant, Layers] = {
    "field": Layers(),  # Higgins et al., 2017; Locatello et al., 2019, as its table has it
    "disentanglement-lib": Layers(kernels=(4, 4, 2, 2)),  # the same, as its code has it
    "factor-vae": Layers(hidden=(128,), linear=True),  # Kim & Mnih, 2018
    "burgess": Layers(channels=(32, 32, 32, 32), hidden=(256, 256)),  # Burgess et al., 2018
    # Principled contrast, App. A.3: five convolutions and one fully connected layer; it names no sizes.
    "contrast": Layers(channels=(32, 32, 64, 128), hidden=(), stem=32, normalised=True),
    "contrast-deep": Layers(channels=(32, 32, 64, 128), hidden=(256, 256), stem=32, normalised=True),  # ours
    "contrast-faces": Layers(
        channels=(32, 64, 128, 256), hidden=(), normalised=True
    ),  # Weinberger et al., 2022
    # Unsupervised Disentanglement Learning by Intervention, 2021, Tables 8 and 9
    "flowers": Layers(channels=(128, 128, 256, 256), hidden=(512,), linear=True),
    "flowers-judge": Layers(channels=(64, 64, 128, 128), hidden=(256, 256), linear=True, slope=0.2),
}


class ConvEncoder(Encoder):
    """Images to posteriors, through four convolutions of stride 2.

    An image whose side is no multiple of 16 gets a border of zeros up to the next one (28 becomes 32), so
    that every layer halves exactly, as TensorFlow's padding "same" does.

    Args:
        shape: Channels, height and width; a square of side 28, 32, 48, 64 or 96.
        codes: The number of dimensions of the code.
        variant: `field` has kernels of 4 everywhere and a fully connected layer of 256;
            `disentanglement-lib` has kernels of 2 in its last two convolutions; `factor-vae` has a layer of
            128 without activation instead of 256; `burgess` has 32 channels throughout and two layers of 256;
            `contrast` has a fifth convolution, at full size, and batch normalisation; `contrast-deep` two layers
            of 256 besides; `contrast-faces` batch normalisation and up to 256 channels;
            `flowers` has four times as many channels and a layer of 512 without activation; `flowers-judge` has
            twice as many, leaky ReLU of slope 0.2 and two layers of 256 without activation.
        standardised: Whether each image's channels are first brought to mean 0 and spread 1.
        channelwise: Whether the layers read each channel by itself, as a grey image, and the largest of its
            features over the channels is taken: what is drawn, in whichever channel it shows.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        codes: int,
        *,
        variant: Variant = "field",
        standardised: bool = False,
        channelwise: bool = False,
    ) -> None:
        super().__init__()
        layers = layers_of(variant)
        self.shape, self.codes = shape, codes
        border, maps = fit(shape)
        modules: list[nn.Module] = [Standardise()] if standardised else []
        before = 1 if channelwise else shape[0]
        if layers.stem:
            modules += [nn.Conv2d(before, layers.stem, 3, padding=1 + border), *_after(layers, layers.stem)]
            before, border = layers.stem, 0
        for channels, kernel in zip(layers.channels, layers.kernels, strict=True):
            modules += [Halving(before, channels, kernel, border), *_after(layers, channels)]
            before, border = channels, 0
        modules.append(nn.Flatten())
        before *= maps**2
        for width in layers.hidden:
            modules += [nn.Linear(before, width), *([] if layers.linear else [nn.ReLU()])]
            before = width
        trunk = nn.Sequential(*modules)
        self.trunk = Channelwise(trunk) if channelwise else trunk
        self.heads = nn.Linear(before, 2 * codes)  # mean and log-variance

    def forward(self, x: Images) -> Gaussian:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The encoder was made for images {self.shape}; got {tuple(x.shape[1:])}.")
        return Gaussian(*self.heads(self.trunk(x)).chunk(2, 1))


class ConvDecoder(Decoder):
    """Codes to images, through four transposed convolutions of stride 2; the encoder's mirror image.

    The first layers end in maps of side s/16, rounded up; what comes out larger than the image, its border is
    cut off (32 becomes 28).

    Args:
        codes: The number of dimensions of the code.
        shape: Channels, height and width; a square of side 28, 32, 48, 64 or 96.
        variant: As of the encoder. `disentanglement-lib` has the decoder of `field`.
    """

    def __init__(self, codes: int, shape: tuple[int, int, int], *, variant: Variant = "field") -> None:
        super().__init__()
        layers = layers_of(variant)
        self.shape, self.codes = shape, codes
        self.border, maps = fit(shape)
        modules: list[nn.Module] = []
        first, *rest = reversed(layers.channels)
        before = codes
        for width in (*layers.hidden, first * maps**2):
            modules += [nn.Linear(before, width), nn.ReLU()]
            before = width
        modules.append(nn.Unflatten(1, (first, maps, maps)))
        before = first
        for channels in (*rest, layers.stem) if layers.stem else rest:
            modules += [Doubling(before, channels), *_after(layers, channels)]
            before = channels
        last = nn.Conv2d(before, shape[0], 3, padding=1) if layers.stem else Doubling(before, shape[0])
        modules.append(last)
        self.layers = nn.Sequential(*modules)

    def forward(self, z: Codes) -> Images:
        x = self.layers(z)
        return F.pad(x, (-self.border,) * 4) if self.border else x


def _after(layers: Layers, channels: int) -> tuple[nn.Module, ...]:
    """What follows a convolution."""
    if layers.normalised:
        return (BatchNorm2d(channels), nn.LeakyReLU(0.2))
    return (nn.LeakyReLU(layers.slope) if layers.slope else nn.ReLU(),)


def layers_of(variant: Variant) -> Layers:
    if variant not in LAYERS:
        raise ValueError(f"There is no variant {variant!r}; allowed are {', '.join(get_args(Variant))}.")
    return LAYERS[variant]


def fit(shape: tuple[int, int, int]) -> tuple[int, int]:
    """The border that makes the side a multiple of 16, and the side of the maps after four halvings."""
    if len(shape) != 3 or shape[1] != shape[2] or shape[1] not in SIDES or shape[0] < 1:
        sides = ", ".join(map(str, SIDES[:-1]))
        raise ValueError(
            f"The convolutional networks need square images (channels, side, side) of side {sides} or "
            f"{SIDES[-1]}; got {shape}."
        )
    maps = -(-shape[1] // 16)
    return (16 * maps - shape[1]) // 2, maps
