"""ResNet-18 and ResNet-34. He et al., 2016, Deep Residual Learning for Image Recognition, arXiv:1512.03385.

Convolutions start as He et al., 2015, have it: normal, by the number of outputs. Each follows its paper but for what
comes first: the paper's stem is for pictures of 224 pixels a side.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.nn.base import Network
from unbraid.nn.batch_norm import BatchNorm2d
from unbraid.types import Images

BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}  # He et al., 2016, Table 1
Stem = Literal["imagenet", "small"]
LEAST = 16  # pixels a side


class ResNet(Network):
    """Images to features, by blocks of two convolutions beside a shortcut and the mean over all places.

    Weights and maps are laid out channels last, which is the faster order for convolutions in low precision.

    Args:
        shape: Channels, height and width of an image; 64×64 and 96×96 in the paper, any from 16 on here.
        depth: 18 or 34 layers.
        stem: `imagenet` begins with a convolution of 7 and stride 2 and a pooling, as its paper has it, so that
            64×64 ends in maps of 2×2; `small` with a convolution of 3, as is usual at 32×32.
        width: The channels of the first group; the features are eight times as many.
    """

    def __init__(
        self, shape: tuple[int, int, int], *, depth: int = 34, stem: Stem = "imagenet", width: int = 64
    ) -> None:
        super().__init__()
        if depth not in BLOCKS:
            raise ValueError(f"A ResNet here has {' or '.join(map(str, BLOCKS))} layers; got depth={depth}.")
        if len(shape) != 3 or min(shape[1:]) < LEAST:
            raise ValueError(
                f"A ResNet needs images (channels, height, width) of at least {LEAST} pixels a side; got {shape}."
            )
        self.shape, self.features = shape, 8 * width
        large = stem == "imagenet"
        first = nn.Conv2d(
            shape[0], width, 7 if large else 3, 2 if large else 1, 3 if large else 1, bias=False
        )
        self.stem = nn.Sequential(first, BatchNorm2d(width), nn.ReLU())
        if large:
            self.stem.append(nn.MaxPool2d(3, 2, 1))
        blocks: list[nn.Module] = []
        before = width
        for group, count in enumerate(BLOCKS[depth]):
            after = width * 2**group
            for place in range(count):
                blocks.append(Block(before, after, stride=2 if group and place == 0 else 1))
                before = after
        self.blocks = nn.Sequential(*blocks)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, x: Images) -> Float[Tensor, "b f"]:
        if x.shape[1:] != self.shape:
            raise ValueError(f"The ResNet was made for images {self.shape}; got {tuple(x.shape[1:])}.")
        maps = self.blocks(self.stem(x.contiguous(memory_format=torch.channels_last)))
        return maps.mean((2, 3))


class Block(nn.Module):
    """Two convolutions of 3 beside a shortcut; where the size changes, a convolution of 1 (option B)."""

    def __init__(self, before: int, after: int, *, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = BatchNorm2d(after), BatchNorm2d(after)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), BatchNorm2d(after))

    def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b e i j"]:
        y = self.norm2(self.second(F.relu(self.norm1(self.first(x)))))
        return F.relu(y + self.shortcut(x))
