"""Colors, light and geometry of rendered rooms, src/unbraid/data/rooms.py."""

import colorsys

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.data.rooms import SPACE, RoomRenderer, cast_scenes, hue_to_rgb, rooms

SIZE = 24
CPU = torch.device("cpu")
FLOOR, WALL, SOLID, GLOSS = range(4)


@pytest.fixture(scope="module")
def scenes() -> Tensor:
    """(scales, shapes, orientations, layers, rows, columns)"""
    return cast_scenes(SIZE, CPU).unflatten(-1, (SIZE, SIZE))


def render(*values: list[int]) -> Tensor:
    return RoomRenderer(SIZE)(torch.tensor(values))


def test_the_factors_are_those_of_3d_shapes() -> None:
    dataset = rooms()
    assert dataset.factor_space.names == (
        "floor_hue",
        "wall_hue",
        "object_hue",
        "scale",
        "shape",
        "orientation",
    )
    assert dataset.factor_space.sizes == (10, 10, 10, 8, 4, 15)
    assert len(dataset) == 480_000
    assert dataset.shape == (3, 64, 64)
    assert (dataset.label, dataset.nuisances) == ("shape", ("object_hue",))
    assert set(dataset.unordered) == {"shape", "floor_hue", "wall_hue", "object_hue"}


def test_hues_are_those_of_hsv() -> None:
    hues = torch.linspace(0, 0.99, 34, dtype=torch.float64)
    expected = torch.tensor([colorsys.hsv_to_rgb(float(hue), 1, 1) for hue in hues]).double()
    assert_close(hue_to_rgb(hues), expected, atol=1e-6, rtol=0)


def test_every_scene_shows_floor_wall_and_solid(scenes: Tensor) -> None:
    areas = (scenes > 0).double().mean((4, 5))[:, :, :, :3]
    assert bool((areas > 0.04).all())


def test_every_scene_is_another(scenes: Tensor) -> None:
    flat = (scenes * 255).round().flatten(0, 2).flatten(1)
    assert len(flat.unique(dim=0)) == 480


def test_the_solid_grows_with_its_scale(scenes: Tensor) -> None:
    areas = (scenes[:, :, :, SOLID] > 0).sum((3, 4))
    assert bool((areas[1:] >= areas[:-1]).all())
    assert bool((areas[-1] > 2 * areas[0]).all())


def test_solids_of_revolution_keep_their_outline_when_the_camera_moves(scenes: Tensor) -> None:
    outline = scenes[4, 1:, :, SOLID] > 0
    assert torch.equal(outline, outline[:, :1].expand_as(outline))
    cube = scenes[4, 0, :, SOLID] > 0
    assert not torch.equal(cube[0], cube[7])


def test_the_corner_of_the_room_moves_with_the_camera(scenes: Tensor) -> None:
    top = scenes[0, 2, :, WALL, 0]  # the first row, above every solid
    steps = [(row[1:] - row[:-1]).abs().argmax() for row in (top[0], top[3], top[11], top[14])]
    assert steps[0] > steps[1]  # the left corner leaves to the left
    assert steps[2] > steps[3]  # the right corner comes in from the right


def test_the_solid_is_shaded_and_casts_a_shadow(scenes: Tensor) -> None:
    for shape in range(4):
        solid = scenes[7, shape, 7, SOLID]
        lit = solid[solid > 0]
        assert lit.quantile(0.9) > 1.5 * lit.quantile(0.1)
        # The floor of a small solid's picture is brighter where only the large one's shadow falls.
        floors = scenes[[0, 7], shape, 7, FLOOR]
        both = (scenes[[0, 7], shape, 7, SOLID] == 0).all(0) & (floors > 0).all(0)
        assert (floors[0] - floors[1])[both].max() > 0.1


def test_an_image_is_the_sum_of_its_colored_layers(scenes: Tensor) -> None:
    values = [2, 7, 4, 5, 3, 9]
    layers = scenes[5, 3, 9].double()
    colors = [torch.tensor(colorsys.hsv_to_rgb(hue / 10, 1, 1)).double() for hue in values[:3]]
    expected = sum(color[:, None, None] * layer for color, layer in zip(colors, layers, strict=False))
    expected = (expected + layers[GLOSS]).clamp(max=1)
    assert_close(render(values)[0].double() / 255, expected, atol=0.51 / 255, rtol=0)


def test_a_hue_changes_only_its_surface() -> None:
    pictures = render([0, 3, 6, 4, 2, 7], [5, 3, 6, 4, 2, 7], [0, 3, 1, 4, 2, 7])
    layers = cast_scenes(SIZE, CPU)[4, 2, 7].unflatten(-1, (SIZE, SIZE))
    other_floor = (pictures[0] != pictures[1]).any(0)
    assert torch.equal(other_floor, other_floor & (layers[FLOOR] > 0))
    other_solid = (pictures[0] != pictures[2]).any(0)
    assert torch.equal(other_solid, other_solid & (layers[SOLID] > 0))


def test_each_image_depends_on_its_own_row_alone() -> None:
    values = SPACE.values(SPACE.draw(20, torch.Generator().manual_seed(0)))
    renderer = RoomRenderer(SIZE)
    one_by_one = torch.cat([renderer(row[None]) for row in values])
    assert int((renderer(values).int() - one_by_one.int()).abs().max()) <= 1


def test_a_tiny_image_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 8 pixels; got image_size=4"):
        rooms(image_size=4)
