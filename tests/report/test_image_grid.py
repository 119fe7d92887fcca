"""Contact sheets, src/unbraid/report/image_grid.py."""

import io

import pytest
import torch
from PIL import Image, ImageColor

from unbraid.report.image_grid import RED, _font, image_sheet, image_strip, png_bytes

WHITE, BLACK = (255, 255, 255), (0, 0, 0)


def test_small_images_are_enlarged_without_blur() -> None:
    checks = torch.tensor([[0.0, 1.0], [1.0, 0.0]]).expand(1, 1, 2, 2)
    sheet = image_sheet([("", checks)], scale=8)
    inside = sheet.crop((10, 10, 26, 26))  # the margin is 10 pixels
    assert sheet.size == (36, 36)
    assert {inside.getpixel((x, y)) for x in range(8) for y in range(8)} == {BLACK}
    assert {inside.getpixel((x, y)) for x in range(8, 16) for y in range(8)} == {WHITE}


def test_every_image_stands_in_its_row_and_column() -> None:
    grays = torch.tensor([0.2, 0.4, 0.6, 0.8]).view(2, 2, 1, 1, 1).expand(2, 2, 3, 4, 4)
    sheet = image_sheet([("", grays[0]), ("", grays[1])], scale=1)
    seen = [sheet.getpixel((10 + 8 * column + 2, 10 + 8 * row + 2)) for row in (0, 1) for column in (0, 1)]
    assert seen == [(gray,) * 3 for gray in (51, 102, 153, 204)]


def test_labels_take_room_and_leave_ink() -> None:
    x = torch.zeros(3, 1, 16, 16)
    plain, labeled = image_sheet([("", x)]), image_sheet([("code 4", x)], columns=["−2", "0", "2"])
    assert labeled.width > plain.width and labeled.height > plain.height
    corner = labeled.crop((0, 0, labeled.width - plain.width, labeled.height)).convert("L")
    assert corner.getextrema()[0] < 128


def test_highlighted_rows_stand_in_a_red_frame() -> None:
    red = ImageColor.getrgb(RED)
    x = torch.zeros(2, 1, 8, 8)
    marked = image_sheet([("", x), ("", x), ("", x)], scale=1, highlight=[1])
    plain = image_sheet([("", x)] * 3, scale=1)
    assert marked.size == plain.size and red not in set(plain.get_flattened_data())
    rows = {y for y in range(marked.height) if marked.getpixel((9, y)) == red}  # left of the images
    assert rows == set(range(20, 33))  # of the second row, which stands from 22 to 29
    labeled = image_sheet([("first", x), ("second", x)], scale=1, highlight=[0])
    label = labeled.crop((0, 0, labeled.width - 30, labeled.height // 2))
    assert any(r > 2 * g for r, g, _ in label.get_flattened_data() if r < 255)


def test_rows_may_differ_in_length_and_channels() -> None:
    sheet = image_sheet(
        [("a", torch.rand(3, 3, 8, 8)), ("b", torch.rand(1, 1, 8, 8)), ("c", torch.rand(2, 2, 8, 8))]
    )
    assert sheet.mode == "RGB"


def test_a_strip_has_transparent_gaps() -> None:
    strip = image_strip(torch.ones(2, 1, 32, 32))
    assert strip.size == (2 * 128 + 8, 128)
    assert strip.getpixel((130, 64)) == (0, 0, 0, 0)
    assert strip.getpixel((0, 0)) == (255, 255, 255, 255)


def test_png_bytes_read_back() -> None:
    sheet = image_sheet([("a", torch.rand(2, 3, 8, 8))])
    assert list(Image.open(io.BytesIO(png_bytes(sheet))).tobytes()) == list(sheet.tobytes())


@pytest.mark.parametrize("observations", [torch.rand(3, 5), torch.rand(0, 1, 8, 8)])
def test_what_is_no_image_is_refused(observations: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="An image sheet needs at least one image"):
        image_sheet([("rows", observations)])


def test_a_sheet_needs_a_row() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        image_sheet([])


def test_minus_signs_and_greek_letters_have_glyphs() -> None:
    font = _font()
    missing = font.getmask("\uffff")  # the box for what the font lacks
    for letter in "−β×":
        assert bytes(font.getmask(letter)) != bytes(missing)
