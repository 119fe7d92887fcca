"""Sizes, layout and state of the ResNets, src/unbraid/nn/resnet.py."""

import copy

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from unbraid.nn import ResNet, backbone
from unbraid.nn.resnet import Block


@pytest.mark.parametrize("side", [64, 96])
def test_the_paper_s_sizes_give_512_features(side: int) -> None:
    network = ResNet((3, side, side), depth=18)
    assert network.features == 512 and network(torch.rand(2, 3, side, side)).shape == (2, 512)


@pytest.mark.parametrize(("depth", "weights"), [(18, 11_176_512), (34, 21_284_672)])
def test_weights_without_the_classifier(depth: int, weights: int) -> None:
    """He et al.'s 11.69 and 21.80 million, less a classifier of 512·1000 + 1000."""
    with torch.device("meta"):
        network = ResNet((3, 64, 64), depth=depth)
    assert sum(parameter.numel() for parameter in network.parameters()) == weights
    convolutions = [name for name, module in network.named_modules() if isinstance(module, nn.Conv2d)]
    assert len([name for name in convolutions if "shortcut" not in name]) == depth - 1


def test_maps_of_64_pixels_end_as_2_by_2_and_the_small_stem_keeps_more() -> None:
    x = torch.rand(1, 3, 64, 64)
    for stem, side in (("imagenet", 2), ("stride-2", 4), ("small", 8)):
        network = ResNet((3, 64, 64), depth=18, stem=stem, width=8)
        assert network.blocks(network.stem(x)).shape == (1, 64, side, side)


def test_the_stem_with_stride_2_has_one_convolution_of_3_and_no_pooling() -> None:
    network = backbone("resnet-34-stride-2", (3, 64, 64))
    convolution, *rest = network.stem  # type: ignore[misc]
    assert (convolution.kernel_size, convolution.stride, convolution.padding) == ((3, 3), (2, 2), (1, 1))
    assert not any(isinstance(layer, nn.MaxPool2d) for layer in rest)
    assert network.features == 512 and len(network.blocks) == 16


def test_a_block_adds_its_shortcut() -> None:
    """With both convolutions at zero, the block is a ReLU."""
    block = Block(3, 3, stride=1).eval()
    nn.init.zeros_(block.second.weight)
    x = torch.randn(2, 3, 5, 5)
    assert_close(block(x), x.relu())
    assert Block(3, 6, stride=2)(x).shape == (2, 6, 3, 3)


def test_weights_and_maps_lie_channels_last_and_stay_so() -> None:
    network = ResNet((3, 32, 32), depth=18, width=8)
    other = copy.deepcopy(network)
    other.load_state_dict(network.state_dict())
    for one in (network, other):
        weight = one.blocks[0].first.weight
        assert weight.is_contiguous(memory_format=torch.channels_last) and not weight.is_contiguous()
    maps = network.stem(torch.rand(2, 3, 32, 32).contiguous(memory_format=torch.channels_last))
    assert maps.is_contiguous(memory_format=torch.channels_last)


def test_in_evaluation_a_row_does_not_depend_on_the_others() -> None:
    network, x = ResNet((3, 32, 32), depth=18, width=8), torch.rand(4, 3, 32, 32)
    network(x)  # statistics to go by
    network.eval()
    assert_close(network(x)[:1], network(x[:1]))


def test_bad_shapes_and_depths() -> None:
    with pytest.raises(ValueError, match="depth must be 18 or 34; got 50"):
        ResNet((3, 64, 64), depth=50)
    with pytest.raises(ValueError, match="stem must be one of imagenet, stride-2, small; got 'large'"):
        ResNet((3, 64, 64), stem="large")
    with pytest.raises(ValueError, match="at least 16 pixels per side"):
        ResNet((3, 8, 8))
    network = ResNet((3, 32, 32), depth=18, width=8)
    with pytest.raises(ValueError, match=r"requires observations of shape \(3, 32, 32\); got \(3, 64, 64\)"):
        network(torch.rand(1, 3, 64, 64))
