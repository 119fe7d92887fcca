"""Options from signatures, src/unbraid/options.py."""

from typing import Literal

import pytest

from unbraid.optimizers import Adam, Optimizer
from unbraid.options import Namespaces, Option, first_sentence, options_of
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
    assert [option.listed().form for option in options.values()] == ["float", "a,b,…", "a|b", "name:value:…"]


def test_help_shows_the_default_after_the_text() -> None:
    shown = {
        value: Option("x", type(value), value, "Size.").listed().help
        for value in (None, (), 2.5, True, False, ("a", "b"))
    }
    assert shown == {
        None: "Size.",
        (): "Size.",
        2.5: "Size. [default: 2.5]",
        True: "Size. [default: on]",
        False: "Size. [default: off]",
        ("a", "b"): "Size. [default: a,b]",
    }


def namespaces() -> Namespaces[Option]:
    beta, noise = Option("beta", float, 1.0, ""), Option("noise", float, 0.0, "")
    owners = {"method": {"beta": beta, "noise": noise}, "data": {"noise": noise}}
    return Namespaces(owners, {"method": "the method m", "data": "the dataset d"})


def test_a_short_name_is_enough_where_one_owner_has_it() -> None:
    options = namespaces()
    assert options.find("beta") == options.find("method.beta") == ("method", options.owners["method"]["beta"])
    assert options.find("data.noise")[0] == "data"
    assert [options.shortest(owner, option.name) for owner, option in options] == [
        *("beta", "method.noise", "data.noise")
    ]
    assert options.group({"beta": 2, "data.noise": 1}) == {"method": {"beta": 2}, "data": {"noise": 1}}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("noise", r"noise belongs to the method m and to the dataset d\. Write method\.noise or data\.noise"),
        ("betta", "no option of the method m on the dataset d 'betta'; did you mean beta"),
        ("data.beta", "no option of the dataset d 'beta'"),
        ("date.noise", "no group of options 'date'; did you mean data"),
    ],
)
def test_other_names_get_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        namespaces().find(name)


def test_an_option_without_an_annotation_has_the_type_of_its_default() -> None:
    def own(gamma=1.0, names=(), on=True, other=None) -> None:  # noqa: ANN001
        """Own code without annotations."""

    assert [option.kind for option in options_of(own).values()] == [float, tuple, bool, str]


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


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (int, "1_000", "'1_000' is not a whole number"),
        (int, "１", "is not a whole number"),
        (int, "0x10", "is not a whole number"),
        (int, "", "'' is not a whole number"),
        (int, "9223372036854775808", r"is out of range: a whole number must be from -2\^63 to 2\^63-1"),
        (int, "1" + "0" * 5000, "is out of range"),
        (float, "1e400", "'1e400' is not a finite number"),
        (float, "nan", "'nan' is not a finite number"),
        (float, "-Infinity", "is not a finite number"),
        (float, "1_0.5", "'1_0.5' is not a number"),
        (float, "٣", "is not a number"),
        (tuple[int, ...], "1,,2", "'1,,2' has an empty entry"),
        (tuple[float, ...], "1,inf", "'inf' is not a finite number"),
        (Schedule, "constant:nan", "'nan' is not a finite number"),
        (Schedule, "linear:0:1:1e400", "'1e400' is not a finite number"),
        (Schedule, "linear:0:1:1_0", "'1_0' is not a number"),
        (Schedule, "linear:0:1:1e30", "is out of range"),
    ],
)
def test_numbers_are_decimal_and_finite(kind: object, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Option("x", kind, None, "").parse(text)


def test_numbers_of_every_common_form_are_read() -> None:
    texts = ("-0", "+3", "1.", ".5", "1E-3", " 2", "1e-320", "9223372036854775807")
    assert [Option("x", float, None, "").parse(text) for text in texts] == [float(text) for text in texts]
    assert Option("x", int, None, "").parse("-9223372036854775808") == -(2**63)
    assert Option("x", tuple[int, ...], None, "").parse("") == ()
    assert Option("x", Schedule, None, "").parse("linear:0:1:1e5") == Linear(0.0, 1.0, 100000)
