"""`unbraid train --config FILE`: a plan from a JSON file, as words of the command line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unbraid.cli.spelling import canonical_option, value_of

KEYS = ("method", "data", "draw", "options", "metrics", "evaluation")
CODE = ("--data", "--draw", "--architecture", "--background")  # options that may name your own code


def config_words(words: Sequence[str]) -> list[str]:
    """The words of `unbraid train` with `--config FILE` replaced by the method and the options of the plan in the file.

    What was typed comes after the plan, so that it takes precedence. Your own code counts only where it was typed.
    """
    config = value_of("--config", words)
    if config is None:
        return list(words)
    index = next(i for i, word in enumerate(words) if word == "--config" or word.startswith("--config="))
    rest = [*words[:index], *words[index + (1 if "=" in words[index] else 2) :]]
    plan = read_config(config)
    method = rest.pop(0) if rest and not rest[0].startswith("-") else None
    typed = {_code_option(word) for word in rest} - {None}
    planned = [entry for entry in _planned_words(config, plan) if _code_option(entry[0]) not in typed]
    _check_method(config, plan["method"], method)
    for flag, *values in planned:
        if (option := _code_option(flag)) is not None:
            _refuse_code(config, values[0], option)
    return [method or plan["method"], *(word for entry in planned for word in entry), *rest]


def read_config(path: str) -> dict[str, Any]:
    """A plan from a JSON file, such as the plan.json of a run; raises for a key that a plan does not have."""
    from unbraid.files import read_json
    from unbraid.settings import lookup

    if not Path(path).is_file():
        raise FileNotFoundError(
            f"There is no file {path}. Pass a plan as JSON, such as the plan.json of a run folder."
        )
    plan = read_json(Path(path))
    keys = {key: None for key in KEYS}
    if not isinstance(plan, dict) or not {"method", "data"} <= plan.keys():
        raise ValueError(f"{path} is not a plan: a plan has the keys method, data and options.")
    for key in plan:
        try:
            lookup("key of a plan", key, keys)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    plan = {"draw": None, "options": {}, **plan}
    if not (isinstance(plan["method"], str) and isinstance(plan["data"], str)):
        raise ValueError(f"{path}: method and data must be names.")
    if not (isinstance(plan["draw"], str | None) and isinstance(plan["options"], dict)):
        raise ValueError(f"{path}: draw must be a name, and options must be an object.")
    return plan


def _check_method(config: str, planned: str, typed: str | None) -> None:
    """Raises if the command names another method than the plan, or none where the plan names your own code."""
    from unbraid.custom_code import plain_name

    if typed is None:
        _refuse_code(config, planned, "unbraid train")
    elif plain_name(typed) != plain_name(planned):
        raise ValueError(
            f"{config} is a plan of {planned}, and the command names {typed}. Leave out one of the two."
        )


def _refuse_code(config: str, name: str, option: str) -> None:
    """Raises if the name in a plan is your own code: a file never makes code run."""
    from unbraid.custom_code import is_reference
    from unbraid.nn import OVERLAY

    if is_reference(name) and not name.startswith(OVERLAY):
        raise ValueError(
            f"{config} names your own code, {name}, and a file never makes code run. Name the code on the command "
            f"line, too: {option} PATH/{name}."
        )


def _code_option(word: str) -> str | None:
    """The option among `CODE` that a word of the command line sets, in any spelling; None for other words."""
    flag = word.partition("=")[0]
    option = canonical_option("--" + flag.removeprefix("--").rpartition(".")[2].replace("_", "-"), CODE)
    return option if flag.startswith("--") and option in CODE else None


def _planned_words(config: str, plan: Mapping[str, Any]) -> list[list[str]]:
    """The dataset, the draw and the options of a plan, by owner or by name, as words of the command line."""
    from unbraid import methods  # noqa: F401  its likelihoods, schedules and optimizers, which `from_json` reads
    from unbraid.options import to_cli_args
    from unbraid.settings import from_json

    named: dict[str, Any] = {"data": plan["data"], "draw": plan["draw"]}
    for key, value in plan["options"].items():
        grouped = isinstance(value, dict) and "spec" not in value
        named |= {f"{key}.{name}": entry for name, entry in value.items()} if grouped else {key: value}
    words = [to_cli_args(name, from_json(value)) for name, value in named.items() if value is not None]
    for flag, *values in words:
        if any(value.startswith("--") for value in values):  # would be read as an option
            raise ValueError(
                f"{config}: {flag} has the value {values[0]!r}. A value must not start with two dashes."
            )
    return words
