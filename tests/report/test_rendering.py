"""How things are written into pages, src/unbraid/report/rendering.py."""

import base64

import numpy as np
from PIL import Image, features

from unbraid.report.rendering import hundredths, image_uri, number, templates, unbroken, uri


def test_numbers_have_four_digits_and_a_minus() -> None:
    assert number(0.123456) == "0.1235" and number(-2) == "−2" and number(float("nan")) == "NaN"


def test_words_of_a_command_stay_whole_and_are_escaped() -> None:
    assert unbroken("unbraid --a-b <x>") == "<span>unbraid</span> <span>--a-b</span> <span>&lt;x&gt;</span>"


def test_a_file_within_a_page_is_its_bytes() -> None:
    kind, _, content = uri(b"abc", "image/png").partition(";base64,")
    assert kind == "data:image/png" and base64.b64decode(content) == b"abc"


def test_a_lossy_image_is_the_smaller_of_two() -> None:
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8))
    flat = Image.new("RGB", (64, 64))
    if features.check("webp"):
        assert image_uri(noise, lossy=True).startswith("data:image/webp")
    assert image_uri(noise, lossy=False).startswith("data:image/png")
    assert len(image_uri(flat, lossy=True)) <= len(image_uri(flat, lossy=False))


def test_what_is_filled_in_is_escaped() -> None:
    assert (
        templates().from_string("{{ name }} {{ 12345 | counted }}").render(name="<b>") == "&lt;b&gt; 12,345"
    )


def test_hundredths_have_no_minus_before_a_zero() -> None:
    assert [hundredths(value) for value in (0.666, -0.004, -0.126, 1.0)] == ["0.67", "0.00", "−0.13", "1.00"]
