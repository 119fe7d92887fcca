"""Contact sheets: rows of small images with readable labels."""

import io
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

import torch
from jaxtyping import Float
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from unbraid.types import Images, Observations

PAPER, INK = (255, 255, 255), (60, 64, 70)
RED = "#d62f3a"  # of what is marked
SIDE = 64  # pixels, about, that a tile on a sheet is brought up to
STRIP_SIDE = 128  # the same on a strip, which a browser scales down again


def image_sheet(
    rows: Sequence[tuple[str, Float[Tensor, "..."]]],
    *,
    columns: Sequence[str] | None = None,
    scale: int | None = None,
    marked: Collection[int] = (),
) -> Image.Image:
    """One picture of labelled rows of images.

    Args:
        rows: A label and its images for each row; shorter rows leave the rest of the sheet empty.
        columns: A label over each column.
        scale: How many pixels of the sheet, each way, a pixel of an image takes; by default as many as bring
            an image to about 64.
        marked: The rows to look at first, by their places: in a red frame, under a red label.
    """
    if not rows:
        raise ValueError("A sheet needs at least one row of images.")
    tiles = [[_tile(image) for image in as_images(images)] for _, images in rows]
    side = max(max(tile.size) for row in tiles for tile in row)
    scale = scale or max(1, round(SIDE / side))
    font = _font()
    gap, margin = 4, 10
    width, height = (max(tile.size[axis] for row in tiles for tile in row) * scale + gap for axis in (0, 1))
    left = margin + max(_width(label, font) for label, _ in rows)
    left += margin if left > margin else 0
    top = margin + (22 if columns else 0)
    across = max(len(row) for row in tiles)
    sheet = Image.new(
        "RGB", (left + across * width - gap + margin, top + len(rows) * height - gap + margin), PAPER
    )
    pen = ImageDraw.Draw(sheet)
    for place, label in enumerate(columns or ()):
        middle = left + place * width + (width - gap) // 2
        pen.text((middle, margin + 6), label, fill=INK, font=font, anchor="mm")
    for line, ((label, _), row) in enumerate(zip(rows, tiles, strict=True)):
        y = top + line * height
        ink = RED if line in marked else INK
        pen.text((left - margin, y + (height - gap) // 2), label, fill=ink, font=font, anchor="rm")
        for place, tile in enumerate(row):
            sheet.paste(_grown(tile, scale), (left + place * width, y))
        if line in marked:
            frame = left - gap // 2, y - gap // 2, left + len(row) * width - gap // 2, y + height - gap // 2
            pen.rectangle(frame, outline=RED, width=gap // 2)
    return sheet


def image_strip(images: Observations) -> Image.Image:
    """Images side by side, nothing between them but a transparent gap."""
    tiles = [_tile(image) for image in as_images(images)]
    scale = max(1, round(STRIP_SIDE / max(tiles[0].size)))
    tiles = [_grown(tile, scale) for tile in tiles]
    width, height = tiles[0].size
    gap = max(1, width // 16)
    strip = Image.new("RGBA", (len(tiles) * (width + gap) - gap, height), (0, 0, 0, 0))
    for place, tile in enumerate(tiles):
        strip.paste(tile, (place * (width + gap), 0))
    return strip


def png_bytes(picture: Image.Image) -> bytes:
    """The picture as a PNG file."""
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def as_images(observations: Observations) -> Images:
    """The observations, which must be images."""
    if observations.ndim != 4 or len(observations) == 0:
        raise ValueError(
            "A sheet shows images of shape (n, channels, height, width), at least one; "
            f"got {tuple(observations.shape)}."
        )
    return observations


def _tile(image: Tensor) -> Image.Image:
    pixels = (image.detach().cpu().float().clamp(0, 1) * 255).round().to(torch.uint8)
    if len(pixels) != 3:  # grey; of other numbers of channels, the mean
        grey = pixels[0] if len(pixels) == 1 else pixels.float().mean(0).to(torch.uint8)
        pixels = grey.expand(3, -1, -1)
    return Image.fromarray(pixels.movedim(0, -1).contiguous().numpy())


def _grown(tile: Image.Image, scale: int) -> Image.Image:
    return tile.resize((tile.width * scale, tile.height * scale), Image.Resampling.NEAREST)


@cache
def _font() -> ImageFont.FreeTypeFont:
    """Matplotlib's own font: Pillow's lacks the minus sign and Greek."""
    import matplotlib

    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size=12)


def _width(label: str, font: ImageFont.FreeTypeFont) -> int:
    return round(font.getlength(label))
