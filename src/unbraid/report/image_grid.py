"""Image grids: rows of small images with labels."""

import io
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

import torch
from jaxtyping import Float
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from unbraid.types import Images, Observations

BACKGROUND_COLOR, TEXT_COLOR = (255, 255, 255), (60, 64, 70)
RED = "#d62f3a"  # of highlighted rows
TARGET_SIDE = 64  # approximate size of an image on a sheet, in pixels
STRIP_SIDE = 128  # approximate size of an image in a strip, in pixels; the browser scales strips down


def image_sheet(
    rows: Sequence[tuple[str, Float[Tensor, "..."]]],
    *,
    columns: Sequence[str] | None = None,
    scale: int | None = None,
    highlight: Collection[int] = (),
) -> Image.Image:
    """One image that contains labeled rows of images.

    Args:
        rows: Label and images of each row; shorter rows are padded with blanks.
        columns: Label of each column.
        scale: Integer magnification of the images. Default: the one that brings an image to about 64 pixels.
        highlight: Indices of rows with a red frame and a red label.
    """
    if not rows:
        raise ValueError("An image sheet needs at least one row of images.")
    tiles = [[_tile(image) for image in as_images(images)] for _, images in rows]
    side = max(max(tile.size) for row in tiles for tile in row)
    scale = scale or max(1, round(TARGET_SIDE / side))
    font = _font()
    gap, margin = 4, 10
    width, height = (max(tile.size[axis] for row in tiles for tile in row) * scale + gap for axis in (0, 1))
    grid_left = margin + max(_width(label, font) for label, _ in rows)
    grid_left += margin if grid_left > margin else 0
    grid_top = margin + (22 if columns else 0)
    columns_shown = max(len(row) for row in tiles)
    sheet = Image.new(
        "RGB",
        (grid_left + columns_shown * width - gap + margin, grid_top + len(rows) * height - gap + margin),
        BACKGROUND_COLOR,
    )
    draw = ImageDraw.Draw(sheet)
    for index, label in enumerate(columns or ()):
        middle = grid_left + index * width + (width - gap) // 2
        draw.text((middle, margin + 6), label, fill=TEXT_COLOR, font=font, anchor="mm")
    for row_index, ((label, _), row) in enumerate(zip(rows, tiles, strict=True)):
        y = grid_top + row_index * height
        text_color = RED if row_index in highlight else TEXT_COLOR
        draw.text(
            (grid_left - margin, y + (height - gap) // 2), label, fill=text_color, font=font, anchor="rm"
        )
        for index, tile in enumerate(row):
            sheet.paste(_magnify(tile, scale), (grid_left + index * width, y))
        if row_index in highlight:
            frame = (
                grid_left - gap // 2,
                y - gap // 2,
                grid_left + len(row) * width - gap // 2,
                y + height - gap // 2,
            )
            draw.rectangle(frame, outline=RED, width=gap // 2)
    return sheet


def image_strip(images: Observations) -> Image.Image:
    """One row of images with transparent gaps."""
    tiles = [_tile(image) for image in as_images(images)]
    scale = max(1, round(STRIP_SIDE / max(tiles[0].size)))
    tiles = [_magnify(tile, scale) for tile in tiles]
    width, height = tiles[0].size
    gap = max(1, width // 16)
    strip = Image.new("RGBA", (len(tiles) * (width + gap) - gap, height), (0, 0, 0, 0))
    for index, tile in enumerate(tiles):
        strip.paste(tile, (index * (width + gap), 0))
    return strip


def png_bytes(image: Image.Image) -> bytes:
    """The image as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def as_images(observations: Observations) -> Images:
    """The observations; raises unless they are images."""
    if observations.ndim != 4 or len(observations) == 0:
        raise ValueError(
            "An image sheet needs at least one image of shape (n, channels, height, width); "
            f"got {tuple(observations.shape)}."
        )
    return observations


def _tile(image: Tensor) -> Image.Image:
    pixels = (image.detach().cpu().float().clamp(0, 1) * 255).round().to(torch.uint8)
    if len(pixels) != 3:  # one channel is shown in gray, other numbers of channels as their mean
        gray = pixels[0] if len(pixels) == 1 else pixels.float().mean(0).to(torch.uint8)
        pixels = gray.expand(3, -1, -1)
    return Image.fromarray(pixels.movedim(0, -1).contiguous().numpy())


def _magnify(tile: Image.Image, scale: int) -> Image.Image:
    return tile.resize((tile.width * scale, tile.height * scale), Image.Resampling.NEAREST)


@cache
def _font() -> ImageFont.FreeTypeFont:
    """The font of Matplotlib, because that of Pillow lacks the minus sign and Greek letters."""
    import matplotlib

    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size=12)


def _width(label: str, font: ImageFont.FreeTypeFont) -> int:
    return round(font.getlength(label))
