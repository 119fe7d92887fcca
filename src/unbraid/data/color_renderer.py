"""Rendering of gray digits in color, optionally rotated, batched on the device of the digits."""

import hashlib

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from unbraid.data.rotation import FixedRotations


class ColorRenderer:
    """Images of factor values (digit, image, background, digit color and, for rotated digits, angle).

    It stores the gray digits as bytes. A pixel is background · (1 - g) + digit color · g, with g the gray value of the
    rotated digit.
    """

    def __init__(
        self,
        digits: UInt8[Tensor, "n h w"],
        backgrounds: Float[Tensor, "p 3"],
        digit_colors: Float[Tensor, "q 3"],
        rotations: FixedRotations | None = None,
    ) -> None:
        self.digits, self.backgrounds, self.digit_colors, self.rotations = (
            digits,
            backgrounds,
            digit_colors,
            rotations,
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        return (3, *self.digits.shape[1:])  # type: ignore[return-value]

    @property
    def nbytes(self) -> int:
        return self.digits.nbytes

    def to(self, device: torch.device | str) -> "ColorRenderer":
        """The renderer with its digits and colors on a device."""
        rotations = None if self.rotations is None else self.rotations.to(device)
        return ColorRenderer(
            self.digits.to(device), self.backgrounds.to(device), self.digit_colors.to(device), rotations
        )

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n 3 h w"]:
        local = values.to(self.digits.device)
        gray = self.digits.index_select(0, local[:, 1]).float() / 255
        if self.rotations is not None:
            gray = self.rotations(gray, local[:, 4])
        background = self.backgrounds.index_select(0, local[:, 2])[:, :, None, None]
        digit_color = self.digit_colors.index_select(0, local[:, 3])[:, :, None, None]
        pixels = torch.lerp(background, digit_color, gray[:, None])
        return pixels.mul_(255).round_().to(torch.uint8).to(values.device)

    def __repr__(self) -> str:  # identifies the images, for the dataset's fingerprint
        digits = hashlib.sha256(self.digits.cpu().numpy().tobytes()).hexdigest()
        colors = [
            table.cpu().mul(255).round().int().tolist() for table in (self.backgrounds, self.digit_colors)
        ]
        return f"ColorRenderer({digits}, {colors}, {self.rotations})"
