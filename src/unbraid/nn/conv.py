"""The convolutional encoders and decoders of the literature: four layers of stride 2, then fully connected layers.

All weights have PyTorch's default initialization (uniform, scaled by the number of inputs).
"""

from typing import Literal, NamedTuple, get_args

from torch import nn
from torch.nn import functional as F

from unbraid.nn.base import Decoder, Encoder
from unbraid.nn.channelwise import Channelwise
from unbraid.nn.norms import NORMS, Normalization
from unbraid.nn.standardize import Standardize
from unbraid.nn.strided_conv import ConvStack, DownConv, UpConv
from unbraid.settings import require_shape
from unbraid.types import Codes, Gaussian, Images

Variant = Literal[
    "field",
    "disentanglement-lib",
    "factor-vae",
    "burgess",
    "contrast",
    "contrast-instance",
    "contrast-layer",
    "contrast-channel",
    "contrast-deep",
    "contrast-faces",
    "flowers",
    "flowers-discriminator",
]
SIDES = (28, 32, 48, 64, 96)


class Layers(NamedTuple):
    """The layers in which the variants differ."""

    kernels: tuple[int, int, int, int] = (4, 4, 4, 4)  # of the encoder; the decoder always has 4
    channels: tuple[int, int, int, int] = (32, 32, 64, 64)  # the decoder has them in reverse
    hidden: tuple[int, ...] = (256,)  # between the convolutions and the codes
    linear: bool = False  # no activations after the encoder's convolutions
    stem: int = 0  # channels of one more convolution, at full size; 0 for none
    # After each convolution, followed by leaky ReLU instead of ReLU.
    normalization: Normalization | None = None
    slope: float = 0.0  # of the encoder's activations below 0


CONTRAST = Layers(channels=(32, 32, 64, 128), hidden=(), stem=32, normalization="batch")
LAYERS: dict[Variant, Layers] = {
    "field": Layers(),  # Higgins et al., 2017; Locatello et al., 2019, table
    "disentanglement-lib": Layers(kernels=(4, 4, 2, 2)),  # Locatello et al., 2019, published code
    "factor-vae": Layers(hidden=(128,), linear=True),  # Kim & Mnih, 2018
    "burgess": Layers(channels=(32, 32, 32, 32), hidden=(256, 256)),  # Burgess et al., 2018
    # Principled contrast, App. A.3: five convolutions and one fully connected layer; sizes are not given. Its "channel
    # normalization" is read in four ways.
    "contrast": CONTRAST,
    "contrast-instance": CONTRAST._replace(normalization="instance"),
    "contrast-layer": CONTRAST._replace(normalization="layer"),
    "contrast-channel": CONTRAST._replace(normalization="channel"),
    "contrast-deep": CONTRAST._replace(hidden=(256, 256)),  # ours
    # Weinberger et al., 2022
    "contrast-faces": Layers(channels=(32, 64, 128, 256), hidden=(), normalization="batch"),
    # Unsupervised Disentanglement Learning by Intervention, 2021, Tables 8 and 9
    "flowers": Layers(channels=(128, 128, 256, 256), hidden=(512,), linear=True),
    "flowers-discriminator": Layers(channels=(64, 64, 128, 128), hidden=(256, 256), linear=True, slope=0.2),
}


class ConvEncoder(Encoder):
    """Encoder of images with four convolutions of stride 2.

    Images whose side is not a multiple of 16 are zero-padded to the next multiple (28 becomes 32), so that every layer
    halves the side exactly, as TensorFlow's padding "same" does.

    Args:
        shape: Channels, height and width; a square of side 28, 32, 48, 64 or 96.
        latent_dim: Number of dimensions of the code.
        variant: `field` has kernels of 4 everywhere and a fully connected layer of 256;
            `disentanglement-lib` has kernels of 2 in its last two convolutions; `factor-vae` has a layer of
            128 without activation instead of 256; `burgess` has 32 channels throughout and two layers of 256;
            `contrast` has a fifth convolution, at full size, and batch normalization; `contrast-instance`,
            `contrast-layer` and `contrast-channel` have another normalization; `contrast-deep` has two layers of 256
            besides; `contrast-faces` has batch normalization and up to 256 channels;
            `flowers` has four times as many channels and a layer of 512 without activation; `flowers-discriminator`
            has twice as many, leaky ReLU of slope 0.2 and two layers of 256 without activation.
        standardized: Whether each channel of each image is standardized to mean 0 and standard deviation 1 first.
        channelwise: Whether the layers process each channel separately, as a gray image, followed by the maximum of
            each feature over the channels.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        latent_dim: int,
        *,
        variant: Variant = "field",
        standardized: bool = False,
        channelwise: bool = False,
    ) -> None:
        super().__init__()
        layers = layers_of(variant)
        self.shape, self.latent_dim = shape, latent_dim
        border, maps = padding_and_map_side(shape)
        modules: list[nn.Module] = [Standardize()] if standardized else []
        before = 1 if channelwise else shape[0]
        if layers.stem:
            modules += [
                nn.Conv2d(before, layers.stem, 3, padding=1 + border),
                *_activation(layers, layers.stem),
            ]
            before, border = layers.stem, 0
        for channels, kernel in zip(layers.channels, layers.kernels, strict=True):
            modules += [DownConv(before, channels, kernel, border), *_activation(layers, channels)]
            before, border = channels, 0
        modules.append(nn.Flatten())
        before *= maps**2
        for width in layers.hidden:
            modules += [nn.Linear(before, width), *([] if layers.linear else [nn.ReLU()])]
            before = width
        trunk = ConvStack(*modules)
        self.trunk = Channelwise(trunk) if channelwise else trunk
        self.heads = nn.Linear(before, 2 * latent_dim)  # mean and log-variance

    def forward(self, x: Images) -> Gaussian:
        require_shape(self, x)
        return Gaussian(*self.heads(self.trunk(x)).chunk(2, 1))


class ConvDecoder(Decoder):
    """Decoder of images with four transposed convolutions of stride 2, the mirror image of the encoder.

    The fully connected layers end in maps of side s/16, rounded up; an output larger than the image is cropped (32
    becomes 28).

    Args:
        latent_dim: Number of dimensions of the code.
        shape: Channels, height and width; a square of side 28, 32, 48, 64 or 96.
        variant: Variant of the encoder; `disentanglement-lib` has the decoder of `field`.
    """

    def __init__(self, latent_dim: int, shape: tuple[int, int, int], *, variant: Variant = "field") -> None:
        super().__init__()
        layers = layers_of(variant)
        self.shape, self.latent_dim = shape, latent_dim
        self.border, maps = padding_and_map_side(shape)
        modules: list[nn.Module] = []
        first, *rest = reversed(layers.channels)
        before = latent_dim
        for width in (*layers.hidden, first * maps**2):
            modules += [nn.Linear(before, width), nn.ReLU()]
            before = width
        modules.append(nn.Unflatten(1, (first, maps, maps)))
        before = first
        for channels in (*rest, layers.stem) if layers.stem else rest:
            modules += [UpConv(before, channels), *_activation(layers, channels)]
            before = channels
        modules.append(nn.Conv2d(before, shape[0], 3, padding=1) if layers.stem else UpConv(before, shape[0]))
        self.layers = ConvStack(*modules)

    def forward(self, z: Codes) -> Images:
        x = self.layers(z)
        return F.pad(x, (-self.border,) * 4) if self.border else x


def _activation(layers: Layers, channels: int) -> tuple[nn.Module, ...]:
    """The normalization and activation after a convolution."""
    if layers.normalization:
        return (NORMS[layers.normalization](channels), nn.LeakyReLU(0.2))
    return (nn.LeakyReLU(layers.slope) if layers.slope else nn.ReLU(),)


def layers_of(variant: Variant) -> Layers:
    """The layers of a variant; raises for an unknown one."""
    if variant not in LAYERS:
        raise ValueError(f"variant must be one of {', '.join(get_args(Variant))}; got {variant!r}.")
    return LAYERS[variant]


def padding_and_map_side(shape: tuple[int, int, int]) -> tuple[int, int]:
    """The padding that makes the side a multiple of 16, and the side of the feature maps after four convolutions."""
    if len(shape) != 3 or shape[1] != shape[2] or shape[1] not in SIDES or shape[0] < 1:
        sides = ", ".join(map(str, SIDES[:-1]))
        raise ValueError(
            f"The convolutional networks require square images (channels, side, side) of side {sides} or "
            f"{SIDES[-1]}; got {shape}."
        )
    maps = -(-shape[1] // 16)
    return (16 * maps - shape[1]) // 2, maps
