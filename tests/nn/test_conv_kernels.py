"""The kernels, src/unbraid/nn/conv_kernels.py, at the borders of images; test_conv_ops.py has all layers."""

import pytest
import torch

from tests.triton_device import DEVICE, require_kernels

require_kernels()

from unbraid.nn import conv_launch  # noqa: E402


def test_an_output_reads_the_pixels_around_it_and_none_of_another_image() -> None:
    fine = torch.zeros(1, 2, 8, 8, 16, device=DEVICE)
    fine[0, 0, 7, 7, 0] = 1.0  # the last pixel of the first image, before the second in memory
    coarse = conv_launch.down(fine, torch.ones(1, 16, 4, 4, 16, device=DEVICE), None, None, 1.0, 1.0)
    assert torch.nonzero(coarse[0, :, :, :, 0]).tolist() == [[0, 3, 3]]
    fine[0, 0, 7, 7, 0], fine[0, 0, 4, 4, 0] = 0.0, 1.0
    coarse = conv_launch.down(fine, torch.ones(1, 16, 4, 4, 16, device=DEVICE), None, None, 1.0, 1.0)
    assert torch.nonzero(coarse[0, :, :, :, 0]).tolist() == [[0, 1, 1], [0, 1, 2], [0, 2, 1], [0, 2, 2]]


@pytest.mark.parametrize("channels", [1, 3, 16])
def test_an_input_reaches_four_by_four_pixels_of_its_image(channels: int) -> None:
    coarse = torch.zeros(1, 2, 4, 4, 16, device=DEVICE)
    coarse[0, 0, 3, 3, 0] = 1.0
    image = conv_launch.up(coarse, torch.ones(1, 16, 4, 4, channels, device=DEVICE), None, None, 1.0, 1.0)
    assert int(image.count_nonzero()) == 3 * 3 * channels  # the fourth row and column are outside
    assert torch.equal(image[0, 0, 5:, 5:], torch.ones(3, 3, channels, device=DEVICE))


def test_an_activation_acts_on_inputs_and_its_derivative_on_outputs() -> None:
    fine, gate = torch.full((1, 1, 4, 4, 16), -1.0, device=DEVICE), torch.ones(1, 1, 2, 2, 16, device=DEVICE)
    gate[..., 0] = -1.0
    weight = torch.ones(1, 16, 4, 4, 16, device=DEVICE)
    plain = conv_launch.down(fine, weight, None, None, 1.0, 1.0)
    assert torch.allclose(conv_launch.down(fine, weight, None, gate, 0.5, 0.25)[..., 1], 0.5 * plain[..., 1])
    assert torch.allclose(
        conv_launch.down(fine, weight, None, gate, 0.5, 0.25)[..., 0], 0.125 * plain[..., 0]
    )
    assert not conv_launch.down(fine, weight, None, None, 0.0, 1.0).any()
