"""Rendering digits in color, src/unbraid/data/color_renderer.py."""

import torch

from unbraid.data.color_renderer import ColorRenderer
from unbraid.data.rotation import FixedRotations


def test_a_pixel_lies_between_background_and_ink() -> None:
    """Gray 0, 51 and 255 on background (0, 1, 0.2) with ink (1, 0, 0.2): g = 0, 0.2, 1."""
    gray = torch.tensor([[[0, 51], [255, 0]]], dtype=torch.uint8)
    render = ColorRenderer(gray, torch.tensor([[0.0, 1.0, 0.2]]), torch.tensor([[1.0, 0.0, 0.2]]))
    seen = render(torch.tensor([[4, 0, 0, 0]]))[0]
    assert seen[:, 0, 0].tolist() == [0, 255, 51]
    assert seen[:, 0, 1].tolist() == [51, 204, 51]
    assert seen[:, 1, 0].tolist() == [255, 0, 51]


def test_the_description_names_digits_colors_and_angles() -> None:
    digits = torch.zeros(1, 4, 4, dtype=torch.uint8)
    first, second = torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([[1.0, 1.0, 1.0]])
    renderers = [
        ColorRenderer(digits, first, second),
        ColorRenderer(digits + 1, first, second),
        ColorRenderer(digits, second, first),
        ColorRenderer(digits, first, second, FixedRotations((10.0,), 4)),
        ColorRenderer(digits, first, second, FixedRotations((20.0,), 4)),
    ]
    assert len({repr(renderer) for renderer in renderers}) == 5
    assert {repr(renderer.to("cpu")) for renderer in renderers} == {repr(renderer) for renderer in renderers}
