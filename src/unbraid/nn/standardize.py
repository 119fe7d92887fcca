"""Standardization of each channel of each image."""

from torch import nn

from unbraid.types import Images

FLOOR = 1e-3  # added to the variance, so that a constant channel becomes 0 instead of amplified noise


class Standardize(nn.Module):
    """Standardizes every channel of every image to mean 0 and standard deviation 1.

    An image in two colors, background + g · (foreground - background), becomes ±(g - mean of g) / std of g in each
    channel: only the sign, which color is lighter, remains of the colors.
    """

    def forward(self, x: Images) -> Images:
        variance = x.var((2, 3), keepdim=True, correction=0)
        return (x - x.mean((2, 3), keepdim=True)) / (variance + FLOOR).sqrt()
