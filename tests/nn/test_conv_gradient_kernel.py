"""The gradient of the weights, src/unbraid/nn/conv_gradient_kernel.py, counted by hand."""

import pytest
import torch

from tests.triton_device import DEVICE, require_kernels

require_kernels()

from unbraid.nn import conv_launch  # noqa: E402


@pytest.mark.parametrize("channels", [1, 16])
def test_a_tap_counts_the_positions_at_which_its_pixel_exists(channels: int) -> None:
    """Of 2 images with 3×3 positions, taps of the middle exist everywhere, those of the border at two of three."""
    coarse, fine = torch.ones(1, 2, 3, 3, 16), torch.ones(1, 2, 6, 6, channels)
    total = conv_launch.weight_gradient(coarse, fine, 4, 1.0, 1.0, 2).sum(0)[0]
    along = torch.tensor([2.0, 3.0, 3.0, 2.0], device=DEVICE)
    weights, over_coarse, taps = total.split(conv_launch.part_sizes(16, channels, 4))
    expected = 2 * along[:, None] * along
    assert torch.equal(
        weights.view(16, 4, 4, channels), expected[None, :, :, None].expand(16, 4, 4, channels)
    )
    assert torch.equal(over_coarse, torch.full((16,), 18.0))
    assert torch.equal(taps.view(4, 4, channels), expected[:, :, None].expand(4, 4, channels))


def test_activations_act_on_both_maps() -> None:
    coarse, fine = torch.full((1, 1, 2, 2, 16), -1.0), torch.full((1, 1, 4, 4, 16), -2.0)
    plain = conv_launch.weight_gradient(coarse, fine, 4, 1.0, 1.0, 2).sum(0)
    both = conv_launch.weight_gradient(coarse, fine, 4, 0.5, 0.25, 1).sum(0)
    weights = conv_launch.part_sizes(16, 16, 4)[0]
    assert torch.equal(both[:, :weights], plain[:, :weights] / 8)
    assert torch.equal(both[:, weights : weights + 16], plain[:, weights : weights + 16] / 2)
