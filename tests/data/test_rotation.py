"""Rotated images, src/unbraid/data/rotation.py."""

import pytest
import torch
from scipy import ndimage
from torch.testing import assert_close

from unbraid.data.rotation import FixedRotations


@pytest.mark.parametrize("size", [5, 8])
def test_quarter_turns_are_exact(size: int) -> None:
    images = torch.rand(4, size, size)
    turned = FixedRotations((0.0, 90.0, 180.0, -90.0), size)(images, torch.arange(4))
    for image, found, quarters in zip(images, turned, (0, 1, 2, -1), strict=True):
        assert_close(found, torch.rot90(image, quarters))


@pytest.mark.parametrize("angle", [22.5, -45.0, 65.0, -75.0])
def test_other_angles_are_those_of_scipy(angle: float) -> None:
    image = torch.rand(9, 9)
    image[[0, -1]] = image[:, [0, -1]] = 0  # at the border the two extend the picture differently
    slow = ndimage.rotate(image.double().numpy(), angle, reshape=False, order=1, mode="constant")
    found = FixedRotations((angle,), 9)(image[None], torch.zeros(1, dtype=torch.long))[0]
    assert_close(found.double(), torch.from_numpy(slow), atol=1e-6, rtol=0)


def test_each_image_has_its_own_angle() -> None:
    images = torch.rand(1, 6, 6).expand(3, 6, 6)
    turns = FixedRotations((0.0, 30.0), 6)
    together = turns(images, torch.tensor([1, 0, 1]))
    assert_close(together[0], together[2])
    assert_close(together[1], images[0])
    assert_close(turns.to("cpu")(images, torch.tensor([1, 0, 1])), together)
