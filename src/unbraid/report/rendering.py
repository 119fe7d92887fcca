"""Pages as text: templates, and how numbers, pictures and commands are written into them."""

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, features

from unbraid.report.sheets import image_strip, png_bytes

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def templates(*, light: bool = False) -> "Environment":
    """The templates of this folder; what is filled in is escaped.

    A `light` page has its pictures in WebP where that is smaller, with a loss that is hardly seen.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["strip"] = lambda images: picture(image_strip(images), light=light)
    found.filters["svg"] = lambda chart: uri(chart, "image/svg+xml")
    found.filters["number"] = number
    found.filters["hundredths"] = hundredths
    found.filters["unbroken"] = unbroken
    found.filters["counted"] = lambda value: f"{value:,}"
    return found


def picture(image: Image.Image, *, light: bool) -> str:
    """An image within the page."""
    exact = png_bytes(image)
    if light and features.check("webp"):
        file = io.BytesIO()
        image.save(file, format="WEBP", quality=85, method=4)
        if len(file.getvalue()) < len(exact):
            return uri(file.getvalue(), "image/webp")
    return uri(exact, "image/png")


def uri(content: bytes, kind: str) -> str:
    """A file within the page."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def number(value: float | int) -> str:
    """A score in four digits at most."""
    return "not a number" if np.isnan(value) else f"{value:.4g}".replace("-", "−")


def hundredths(value: float) -> str:
    """A score to two decimals, and no minus before a zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def unbroken(command: str) -> "Markup":
    """A command whose options no browser breaks at their hyphens."""
    from markupsafe import Markup

    word = Markup("<span>{}</span>").format
    lines = [Markup(" ").join(word(part) for part in line.split(" ")) for line in command.split("\n")]
    return Markup("\n").join(lines)
