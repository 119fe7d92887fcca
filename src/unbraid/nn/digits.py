"""The encoder and decoder for coloured digits of Unsupervised Disentanglement Learning by Intervention, 2021,
Tables 6 and 7. All weights start as PyTorch's defaults."""

from torch import nn

from unbraid.nn.base import Decoder, Encoder
from unbraid.nn.halving import Doubling, Halving
from unbraid.types import Codes, Gaussian, Images


class DigitEncoder(Encoder):
    """Images to posteriors, through two convolutions of stride 2 and one of stride 1.

    Args:
        shape: Channels, height and width; a square whose side is a multiple of 4.
        codes: The number of dimensions of the code.
        hidden: The widths of layers without activation before the heads; Table 7 has one of 128.
    """

    def __init__(self, shape: tuple[int, int, int], codes: int, *, hidden: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        before = 128 * _quarter(shape) ** 2
        modules: list[nn.Module] = [
            *(Halving(shape[0], 64), nn.ReLU()),
            *(Halving(64, 128), nn.ReLU()),
            *(nn.Conv2d(128, 128, 3, padding=1), nn.ReLU()),
            nn.Flatten(),
        ]
        for width in hidden:
            modules.append(nn.Linear(before, width))
            before = width
        self.trunk = nn.Sequential(*modules)
        self.heads = nn.Linear(before, 2 * codes)  # mean and log-variance

    def forward(self, x: Images) -> Gaussian:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The encoder was made for images {self.shape}; got {tuple(x.shape[1:])}.")
        return Gaussian(*self.heads(self.trunk(x)).chunk(2, 1))


class DigitDecoder(Decoder):
    """Codes to images, through a layer of 64 maps and two transposed convolutions of stride 2.

    The paper has maps of 4×4, which would end in 16×16: here they have a quarter of the image's side.

    Args:
        codes: The number of dimensions of the code.
        shape: Channels, height and width; a square whose side is a multiple of 4.
    """

    def __init__(self, codes: int, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.shape, self.codes = shape, codes
        maps = _quarter(shape)
        self.layers = nn.Sequential(
            nn.Linear(codes, 64 * maps**2),
            nn.ReLU(),
            nn.Unflatten(1, (64, maps, maps)),
            *(Doubling(64, 64), nn.ReLU()),
            Doubling(64, shape[0]),
        )

    def forward(self, z: Codes) -> Images:
        return self.layers(z)


def _quarter(shape: tuple[int, int, int]) -> int:
    if len(shape) != 3 or shape[1] != shape[2] or shape[1] % 4 or shape[1] < 8:
        raise ValueError(
            "The networks for digits need square images (channels, side, side) whose side is a multiple of 4, at "
            f"least 8; got {shape}."
        )
    return shape[1] // 4
