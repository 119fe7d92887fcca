"""Small PNG images for notebooks."""

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

COLUMNS = 8  # images per row
SIDE = 48  # largest side of an image in pixels, so that even images of noise stay small


def png(*rows: "torch.Tensor") -> bytes:
    """Rows of images as one PNG, each image reduced to at most `SIDE` pixels."""
    from PIL import Image

    tiles = [[_tile(image) for image in row] for row in rows]
    width, height = tiles[0][0].size
    sheet = Image.new("RGB", (COLUMNS * (width + 2) - 2, len(tiles) * (height + 2) - 2), (128, 128, 128))
    for line, row in enumerate(tiles):
        for index, tile in enumerate(row):
            sheet.paste(tile, (index * (width + 2), line * (height + 2)))
    content = io.BytesIO()
    sheet.save(content, "PNG", optimize=True)
    return content.getvalue()


def _tile(image: "torch.Tensor") -> Any:
    from PIL import Image

    pixels = (image.detach().cpu().float().clamp(0, 1) * 255).round().byte()
    if len(pixels) != 3:  # gray, or an unusual number of channels: show the first channel
        pixels = pixels[:1].expand(3, -1, -1)
    tile = Image.fromarray(pixels.movedim(0, -1).contiguous().numpy())
    longest = max(tile.size)
    if longest <= SIDE:
        return tile
    width, height = (max(1, round(side * SIDE / longest)) for side in tile.size)
    return tile.resize((width, height), Image.Resampling.BOX)
