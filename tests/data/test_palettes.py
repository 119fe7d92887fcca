"""Color sets, src/unbraid/data/palettes.py."""

import pytest
from torch.testing import assert_close

from unbraid.data.palettes import DIGIT_COLORS, PALETTES, TRAIN, choose_palette, rgb


@pytest.mark.parametrize("colors", ["mild", "hard"])
def test_the_sets_of_colors(colors: str) -> None:
    palette = PALETTES[colors]
    assert (len(palette.train), len(palette.test), len(palette.digits)) == (3, 3, 6)
    assert palette.test_digits == palette.digits
    assert len({*palette.train, *palette.test, *palette.digits}) == 12
    assert (
        PALETTES["mild"].train == PALETTES["hard"].train
        and PALETTES["mild"].digits == PALETTES["hard"].digits
    )


def test_lists_replace_those_of_the_set() -> None:
    palette = choose_palette("mild", None, ("#ABCDEF",), None, None)
    assert palette == (TRAIN, ("abcdef",), DIGIT_COLORS, DIGIT_COLORS)
    assert choose_palette("hard", None, None, None, None) == PALETTES["hard"]
    assert choose_palette("hard", None, None, ("ffffff",), None)[2:] == (("ffffff",), ("ffffff",))
    assert choose_palette("hard", None, None, ("ffffff",), ("ffff00",))[2:] == (("ffffff",), ("ffff00",))


def test_colors_are_red_green_and_blue() -> None:
    assert_close(rgb(["ff0033"])[0].tolist(), [1.0, 0.0, 0.2])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("soft", None, None, None, None), "color_set must be mild or hard; got color_set='soft'"),
        (("mild", (), None, None, None), "list background_colors is empty: give at least one color"),
        (("mild", None, None, ("red",), None), "written RRGGBB, such as ff8000; got 'red'"),
        (("mild", None, None, ("ff0000", "ff0000"), None), "list digit_colors names a color twice"),
        (
            ("mild", None, ("#FF0000",), ("ff0000",), None),
            "ff0000 is both a digit color and a background color",
        ),
        (("mild", None, None, None, ("c00000",)), "c00000 is both a digit color and a background color"),
        (("mild", None, None, None, ()), "list test_digit_colors is empty"),
    ],
)
def test_mistakes_get_one_sentence(arguments: tuple, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        choose_palette(*arguments)
