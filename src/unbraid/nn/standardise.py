"""Images without their colours' level and strength."""

from torch import nn

from unbraid.types import Images

FLOOR = 1e-3  # of a channel's variance: one that is the same everywhere becomes 0 instead of noise


class Standardise(nn.Module):
    """Brings every channel of every image to mean 0 and spread 1.

    A picture in two colours, ground + g · (ink - ground), becomes ±(g - mean of g) / spread of g in each channel:
    of the colours, only which of the two is the lighter one is left.
    """

    def forward(self, x: Images) -> Images:
        spread = x.var((2, 3), keepdim=True, correction=0)
        return (x - x.mean((2, 3), keepdim=True)) / (spread + FLOOR).sqrt()
