"""HTML templates and their filters for numbers, images and commands."""

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, features

from unbraid.report.image_grid import image_strip, png_bytes

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def templates(*folders: Path, lossy: bool = False) -> "Environment":
    """The templates of this folder, with autoescaping.

    Args:
        folders: Further folders with templates.
        lossy: Whether images are stored as WebP (quality 85) when that is smaller than PNG.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([Path(__file__).parent, *folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["strip"] = lambda images: image_uri(image_strip(images), lossy=lossy)
    environment.filters["svg"] = lambda chart: uri(chart, "image/svg+xml")
    environment.filters["number"] = number
    environment.filters["hundredths"] = hundredths
    environment.filters["unbroken"] = unbroken
    environment.filters["counted"] = lambda value: f"{value:,}"
    return environment


def image_uri(image: Image.Image, *, lossy: bool) -> str:
    """An image as a data URI."""
    exact = png_bytes(image)
    if lossy and features.check("webp"):
        file = io.BytesIO()
        image.save(file, format="WEBP", quality=85, method=4)
        if len(file.getvalue()) < len(exact):
            return uri(file.getvalue(), "image/webp")
    return uri(exact, "image/png")


def uri(content: bytes, kind: str) -> str:
    """A file as a data URI."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def number(value: float | int) -> str:
    """A score with at most four significant digits."""
    return "NaN" if np.isnan(value) else f"{value:.4g}".replace("-", "−")


def hundredths(value: float) -> str:
    """A score with two decimals and no negative zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def unbroken(command: str) -> "Markup":
    """A command without line breaks inside its options."""
    from markupsafe import Markup

    word = Markup("<span>{}</span>").format
    lines = [Markup(" ").join(word(part) for part in line.split(" ")) for line in command.split("\n")]
    return Markup("\n").join(lines)
