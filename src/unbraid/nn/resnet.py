"""ResNet-18 and ResNet-34. He et al., 2016, Deep Residual Learning for Image Recognition, arXiv:1512.03385.

Convolutions are initialized as in He et al., 2015: normal, scaled by the number of outputs. Layers are those of the
paper, except for the optional stem: the stem of the paper is for images of 224 pixels per side.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.nn.base import Network
from unbraid.nn.batch_norm import BatchNorm2d
from unbraid.settings import require_shape
from unbraid.types import Images

BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3)}  # He et al., 2016, Table 1
STEMS = {"imagenet": (7, 2), "stride-2": (3, 2), "small": (3, 1)}  # kernel and stride
MIN_SIDE = 16  # pixels


class ResNet(Network):
    """Network from images to features: residual blocks of two convolutions, then the mean over all positions.

    Weights and maps are in channels-last order, which is faster for convolutions in low precision.

    Args:
        shape: Channels, height and width of an image; 64×64 and 96×96 in the paper; here any size from 16.
        depth: Number of layers: 18 or 34.
        stem: First layers: `imagenet` is a convolution of 7 with stride 2 and a pooling, as in the paper, so that
            64×64 ends in maps of 2×2; `stride-2` is a convolution of 3 with stride 2, with which it ends in 4×4;
            `small` is a convolution of 3, as is usual at 32×32.
        width: Channels of the first group; the number of features is eight times the width.
    """

    def __init__(
        self, shape: tuple[int, int, int], *, depth: int = 34, stem: str = "imagenet", width: int = 64
    ) -> None:
        super().__init__()
        if depth not in BLOCKS:
            raise ValueError(f"depth must be {' or '.join(map(str, BLOCKS))}; got {depth}.")
        if len(shape) != 3 or min(shape[1:]) < MIN_SIDE:
            raise ValueError(
                f"A ResNet requires images (channels, height, width) of at least {MIN_SIDE} pixels per side; got "
                f"{shape}."
            )
        if stem not in STEMS:
            raise ValueError(f"stem must be one of {', '.join(STEMS)}; got {stem!r}.")
        self.shape, self.features = shape, 8 * width
        kernel, stride = STEMS[stem]
        first = nn.Conv2d(shape[0], width, kernel, stride, kernel // 2, bias=False)
        self.stem = nn.Sequential(first, BatchNorm2d(width), nn.ReLU())
        if stem == "imagenet":
            self.stem.append(nn.MaxPool2d(3, 2, 1))
        blocks: list[nn.Module] = []
        before = width
        for group, count in enumerate(BLOCKS[depth]):
            after = width * 2**group
            for index in range(count):
                blocks.append(Block(before, after, stride=2 if group and index == 0 else 1))
                before = after
        self.blocks = nn.Sequential(*blocks)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, x: Images) -> Float[Tensor, "b f"]:
        require_shape(self, x)
        maps = self.blocks(self.stem(x.contiguous(memory_format=torch.channels_last)))
        return maps.mean((2, 3))


class Block(nn.Module):
    """Two convolutions of 3 and a shortcut; if the size changes, the shortcut is a convolution of 1 (option B)."""

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
