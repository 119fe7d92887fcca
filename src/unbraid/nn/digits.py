"""The encoder and decoder for colored digits of Unsupervised Disentanglement Learning by Intervention, 2021,
Tables 6 and 7. All weights have PyTorch's default initialization."""

from torch import nn

from unbraid.nn.base import Decoder, Encoder
from unbraid.nn.strided_conv import ConvStack, DownConv, UpConv
from unbraid.settings import require_shape
from unbraid.types import Codes, Gaussian, Images


class DigitEncoder(Encoder):
    """Encoder of images with two convolutions of stride 2 and one of stride 1.

    Args:
        shape: Channels, height and width; a square whose side is a multiple of 4.
        latent_dim: Number of dimensions of the code.
        hidden: Widths of layers without activation before the heads; Table 7 has one layer of 128.
    """

    def __init__(self, shape: tuple[int, int, int], latent_dim: int, *, hidden: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.shape, self.latent_dim = shape, latent_dim
        before = 128 * _quarter(shape) ** 2
        modules: list[nn.Module] = [
            *(DownConv(shape[0], 64), nn.ReLU()),
            *(DownConv(64, 128), nn.ReLU()),
            *(nn.Conv2d(128, 128, 3, padding=1), nn.ReLU()),
            nn.Flatten(),
        ]
        for width in hidden:
            modules.append(nn.Linear(before, width))
            before = width
        self.trunk = ConvStack(*modules)
        self.heads = nn.Linear(before, 2 * latent_dim)  # mean and log-variance

    def forward(self, x: Images) -> Gaussian:
        require_shape(self, x)
        return Gaussian(*self.heads(self.trunk(x)).chunk(2, 1))


class DigitDecoder(Decoder):
    """Decoder of images with a layer of 64 maps and two transposed convolutions of stride 2.

    The side of the maps is a quarter of the image side; the 4×4 maps of the paper would give images of 16×16.

    Args:
        latent_dim: Number of dimensions of the code.
        shape: Channels, height and width; a square whose side is a multiple of 4.
    """

    def __init__(self, latent_dim: int, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.shape, self.latent_dim = shape, latent_dim
        maps = _quarter(shape)
        self.layers = ConvStack(
            nn.Linear(latent_dim, 64 * maps**2),
            nn.ReLU(),
            nn.Unflatten(1, (64, maps, maps)),
            *(UpConv(64, 64), nn.ReLU()),
            UpConv(64, shape[0]),
        )

    def forward(self, z: Codes) -> Images:
        return self.layers(z)


def _quarter(shape: tuple[int, int, int]) -> int:
    if len(shape) != 3 or shape[1] != shape[2] or shape[1] % 4 or shape[1] < 8:
        raise ValueError(
            "The networks for digits require square images (channels, side, side) whose side is a multiple of 4, at "
            f"least 8; got {shape}."
        )
    return shape[1] // 4
