"""Options from signatures, src/unbraid/options.py."""

from typing import Literal

import pytest

from unbraid.optimizers import Adam, Optimizer
from unbraid.options import Option, first_sentence, merge, options_of, usage
from unbraid.schedules import Linear, Schedule


class Example:
    """An example.

    Args:
        beta: The weight of
            one term.
        names: Some names.
    """

    def __init__(
        self,
        encoder: object,
        *,
        beta: float = 4.0,
        names: tuple[str, ...] = (),
        mode: Literal["a", "b"] = "a",
        capacity: Schedule | None = None,
    ) -> None: ...


def test_options_are_the_constructors_arguments_with_their_help() -> None:
    options = options_of(Example, leave_out=("encoder",))
    assert list(options) == ["beta", "names", "mode", "capacity"]
    assert options["beta"] == Option("beta", float, 4.0, "The weight of one term.")
    assert options["names"].help == "Some names."
    assert options["capacity"].kind is Schedule


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "12", 12),
        (float, "1e-3", 1e-3),
        (bool, "no", False),
        (str, "conv", "conv"),
        (tuple[str, ...], "shape,scale", ("shape", "scale")),
        (tuple[int, ...], "1,2", (1, 2)),
        (Literal["a", "b"], "b", "b"),
        (Schedule, "linear:0:25:100", Linear(0.0, 25.0, 100)),
        (Optimizer, "adam:0.01", Adam(0.01)),
    ],
)
def test_values_are_parsed_as_their_type(kind: object, text: str, value: object) -> None:
    assert Option("x", kind, None, "").parse(text) == value


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (int, "1.5", "--learning-rate: '1.5' is not a whole number"),
        (float, "x", "'x' is not a number"),
        (bool, "maybe", "must be true or false"),
        (Literal["a", "b"], "c", "'c' must be one of a, b"),
        (Schedule, "adam:1", "must be one of .*linear:START:END:STEPS"),
    ],
)
def test_a_wrong_value_raises_one_sentence(kind: object, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Option("learning_rate", kind, None, "").parse(text)


def test_usage_shows_the_form_of_a_value() -> None:
    options = options_of(Example, leave_out=("encoder",))
    assert [usage(option) for option in options.values()] == ["float", "a,b,…", "a|b", "name:value:…"]


def test_an_option_belongs_to_one_group() -> None:
    option = Option("beta", float, 1.0, "")
    assert merge({"method": {"beta": option}}) == {"beta": ("method", option)}
    with pytest.raises(ValueError, match="both method and data"):
        merge({"method": {"beta": option}, "data": {"beta": option}})


def test_a_summary_is_the_first_paragraph_on_one_line() -> None:
    def thing() -> None:
        """What it is, written
        on two lines.

        More.
        """

    assert first_sentence(thing) == "What it is, written on two lines." and first_sentence(3.5).startswith(
        "Convert"
    )
    assert first_sentence(lambda: None) == ""
