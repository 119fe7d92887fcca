"""The geometry of rendered sprites, src/unbraid/data/sprites.py."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.data.dsprites import SOURCE
from unbraid.data.root import data_root
from unbraid.data.sprites import SPACE, SpriteRenderer, sprites


def render(*values: list[int], size: int = 64, antialias: bool = True) -> Tensor:
    """Pictures as parts of white, in float64."""
    return SpriteRenderer(size, antialias)(torch.tensor(values))[:, 0].double() / 255


def center(picture: Tensor) -> tuple[float, float]:
    """The middle of the white, as column and row in parts of the side."""
    steps = (torch.arange(len(picture)) + 0.5) / len(picture)
    total = picture.sum()
    return float((picture.sum(0) * steps).sum() / total), float((picture.sum(1) * steps).sum() / total)


def test_the_factors_are_those_of_dsprites() -> None:
    dataset = sprites()
    assert dataset.factor_space.sizes == (3, 6, 40, 32, 32)
    assert len(dataset) == 737_280
    assert dataset.shape == (1, 64, 64)
    assert dataset.label == "shape"


@pytest.mark.parametrize("size", [16, 28, 32, 64, 96])
def test_areas_are_those_of_the_shapes(size: int) -> None:
    pictures = render([0, 5, 0, 16, 16], [1, 5, 0, 16, 16], [2, 5, 0, 16, 16], size=size)
    # The heart in its own unit: a square of side √½ and a disc of radius √⅛; its half width is ¼ + √⅛.
    unit = (9.75 / 64) / (0.25 + math.sqrt(0.125))
    areas = [(19.5 / 64) ** 2, math.pi * 12.5 * 7.5 / 64**2, unit**2 * (0.5 + math.pi / 8)]
    tolerance = 0.03 if size > 30 else 0.08
    assert_close(pictures.mean((1, 2)), torch.tensor(areas).double(), rtol=tolerance, atol=0)


def test_scale_is_a_length() -> None:
    areas = render(*[[1, scale, 0, 16, 16] for scale in range(6)]).sum((1, 2))
    expected = (0.5 + torch.arange(6).double() / 10) ** 2
    assert_close(areas / areas[-1], expected, rtol=0.01, atol=0)


def test_positions_span_half_an_image() -> None:
    for x, y in [(0, 0), (31, 0), (7, 31)]:
        column, row = center(render([1, 3, 4, x, y])[0])
        assert_close(
            torch.tensor([column, row]), torch.tensor([0.25 + x / 62, 0.25 + y / 62]), atol=2e-4, rtol=0
        )


def test_orientation_turns_counterclockwise() -> None:
    # Turning the whole picture by a quarter takes column x, row y to column y, row 31 - x.
    for shape in range(3):
        before = render([shape, 4, 3, 5, 12])[0]
        assert_close(render([shape, 4, 13, 12, 26])[0], torch.rot90(before), atol=0.01, rtol=0)
        assert_close(render([shape, 4, 23, 26, 19])[0], torch.rot90(before, 2), atol=0.01, rtol=0)


def test_the_ellipse_is_wide_and_the_heart_points_down() -> None:
    ellipse, heart = render([1, 5, 0, 16, 16], [2, 5, 0, 16, 16])
    assert (ellipse.sum(0) > 0).sum() > 1.5 * (ellipse.sum(1) > 0).sum()
    rows = heart.sum(1).nonzero()[:, 0]
    assert heart[rows[0] + 4].sum() > 3 * heart[rows[-1] - 1].sum()


def test_without_soft_edges_pixels_are_black_or_white() -> None:
    hard = render([0, 3, 7, 5, 9], [2, 5, 13, 20, 30], antialias=False)
    soft = render([0, 3, 7, 5, 9], [2, 5, 13, 20, 30])
    assert set(hard.unique().tolist()) == {0.0, 1.0}
    assert_close(hard, (soft > 0.5).double(), atol=0, rtol=0)


def test_soft_edges_tell_every_neighbor_apart_at_32_pixels() -> None:
    across = render(*[[1, 0, 3, x, 16] for x in range(32)], size=32).flatten(1)
    assert len(across.unique(dim=0)) == 32
    turned = render(*[[2, 0, angle, 16, 16] for angle in range(40)], size=32).flatten(1)
    assert len(turned.unique(dim=0)) == 40


def test_no_sprite_touches_the_border() -> None:
    corners = [[s, 5, o, x, y] for s in range(3) for o in range(40) for x in (0, 31) for y in (0, 31)]
    for size in (32, 64):
        pictures = render(*corners, size=size)
        frame = torch.stack([pictures[:, 0], pictures[:, -1], pictures[:, :, 0], pictures[:, :, -1]])
        assert float(frame.max()) < 1 / 2
        assert_close(frame[:, :, 0].max(), torch.tensor(0.0).double())


def test_each_image_depends_on_its_own_row_alone() -> None:
    generator = torch.Generator().manual_seed(0)
    values = SPACE.values(SPACE.draw(50, generator))
    renderer = SpriteRenderer(64, True)
    assert torch.equal(renderer(values), torch.cat([renderer(row[None]) for row in values]))


def test_images_of_a_batch_are_between_zero_and_one() -> None:
    dataset = sprites(image_size=32)
    seen = dataset.observe(dataset.sample_indices(64, torch.Generator().manual_seed(0)))
    assert seen.shape == (64, 1, 32, 32)
    assert_close(torch.stack([seen.min(), seen.max()]), torch.tensor([0.0, 1.0]))


def test_a_tiny_image_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16 pixels; got image_size=8"):
        sprites(image_size=8)


def test_sprites_look_like_dsprites() -> None:
    path = data_root() / SOURCE.file
    if not path.is_file():
        pytest.skip("dSprites is not under UNBRAID_DATA")
    from unbraid.data import dsprites

    official = dsprites()
    values = SPACE.values(SPACE.draw(2_000, torch.Generator().manual_seed(0)))
    values[:, 2] = 0  # later angles differ, because dSprites' last orientation is its first again
    ours = SpriteRenderer(64, False)(values)[:, 0] > 0
    theirs = official.source[SPACE.index(values), 0] > 0
    overlap = (ours & theirs).sum((1, 2)) / (ours | theirs).sum((1, 2))
    by_shape = [float(overlap[values[:, 0] == shape].mean()) for shape in range(3)]
    assert np.greater(by_shape, [0.95, 0.94, 0.88]).all()
