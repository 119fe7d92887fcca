"""`unbraid train --config FILE`: a plan from a JSON file, as words of the command line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unbraid.cli.spelling import value_of

KEYS = ("method", "data", "draw", "options", "metrics", "evaluation")


def config_words(words: Sequence[str]) -> list[str]:
    """The words of `unbraid train` with `--config FILE` replaced by the method and the options of the plan in the file.

    What was typed comes after the plan, so that it takes precedence.
    """
    config = value_of("--config", words)
    if config is None:
        return list(words)
    index = next(i for i, word in enumerate(words) if word == "--config" or word.startswith("--config="))
    rest = [*words[:index], *words[index + (1 if "=" in words[index] else 2) :]]
    plan = read_config(config)
    typed = rest.pop(0) if rest and not rest[0].startswith("-") else None
    _check_code(config, plan, typed, value_of("--data", rest))
    draw = [] if plan.get("draw") is None else ["--draw", plan["draw"]]
    return [typed or plan["method"], "--data", plan["data"], *draw, *_option_words(plan["options"]), *rest]


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
    return {"options": {}, **plan}


def _check_code(config: str, plan: Mapping[str, Any], method: str | None, data: str | None) -> None:
    """Raises if the file names your own code that was not typed: a file never makes code run."""
    from unbraid.custom_code import is_reference, plain_name

    if method is not None and plain_name(method) != plain_name(plan["method"]):
        raise ValueError(
            f"{config} is a plan of {plan['method']}, and the command names {method}. Leave out one of the two."
        )
    for typed, name, form in ((method, plan["method"], "METHOD"), (data, plan["data"], "--data")):
        if typed is None and is_reference(name):
            raise ValueError(
                f"{config} names your own code, {name}, and a file never makes code run. Name the code on the command "
                f"line, too: {'unbraid train' if form == 'METHOD' else '--data'} PATH/{name}."
            )


def _option_words(options: Mapping[str, Any]) -> list[str]:
    """The options of a plan, by owner or by name, as words of the command line."""
    from unbraid.options import to_cli_args
    from unbraid.settings import from_json

    named: dict[str, Any] = {}
    for key, value in options.items():
        grouped = isinstance(value, dict) and "spec" not in value
        named |= {f"{key}.{name}": entry for name, entry in value.items()} if grouped else {key: value}
    return [
        word
        for name, value in named.items()
        if value is not None
        for word in to_cli_args(name, from_json(value))
    ]
