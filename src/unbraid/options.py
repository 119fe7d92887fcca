"""Options: the constructors' own arguments, as the command line and recipes name them."""

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from unbraid.settings import Plain


class Option(NamedTuple):
    """One argument of a constructor."""

    name: str
    kind: Any  # its annotation, without None
    default: Any
    help: str

    def parse(self, text: str) -> Any:
        """The value a person wrote."""
        try:
            return _parse(self.kind, text)
        except ValueError as error:
            raise ValueError(f"--{self.name.replace('_', '-')}: {error}") from None


def options_of(constructor: Callable[..., Any], *, leave_out: tuple[str, ...] = ()) -> dict[str, Option]:
    """The named arguments of a constructor with the help of its docstring."""
    return {name: option for name, option in _options_of(constructor).items() if name not in leave_out}


@functools.cache
def _options_of(constructor: Callable[..., Any]) -> dict[str, Option]:
    target = constructor.__init__ if inspect.isclass(constructor) else constructor
    hints = typing.get_type_hints(target)
    help_texts = argument_help(inspect.getdoc(constructor) or "")
    options = {}
    for name, parameter in inspect.signature(constructor).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        default = None if parameter.default is parameter.empty else parameter.default
        options[name] = Option(name, _without_none(hints.get(name, str)), default, help_texts.get(name, ""))
    return options


def argument_help(docstring: str) -> dict[str, str]:
    """The entries of a docstring's `Args:` section.

    >>> argument_help("Does it.\\n\\nArgs:\\n    beta: The weight\\n        of the KL.\\n    codes: How many.")
    {'beta': 'The weight of the KL.', 'codes': 'How many.'}
    """
    section = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)*)", docstring, re.MULTILINE)
    entries: dict[str, str] = {}
    for line in section.group(1).splitlines() if section else ():
        if entry := re.match(r" {4}\*{0,2}(\w+): (.*)", line):
            name = entry.group(1)
            entries[name] = entry.group(2)
        elif line.strip() and entries:
            entries[name] += " " + line.strip()
    return entries


def written(name: str, value: Any) -> list[str]:
    """The words of the command line that give an option a value.

    >>> written("skip_broken", False), written("fixed", ("shape", "scale"))
    (['--no-skip-broken'], ['--fixed', 'shape,scale'])
    """
    dashed = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{dashed}" if value else f"--no-{dashed}"]
    if isinstance(value, tuple | list):
        return [f"--{dashed}", ",".join(map(str, value))]
    return [f"--{dashed}", value.short() if isinstance(value, Plain) else str(value)]


def usage(option: Option) -> str:
    """How a value of the option is written, in a word."""
    if typing.get_origin(option.kind) is Literal:
        return "|".join(map(str, typing.get_args(option.kind)))
    if typing.get_origin(option.kind) is tuple:
        return "a,b,…"
    if inspect.isclass(option.kind) and issubclass(option.kind, Plain):
        return "name:value:…"
    return getattr(option.kind, "__name__", "text")


def _without_none(kind: Any) -> Any:
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kinds = [entry for entry in typing.get_args(kind) if entry is not type(None)]
        return kinds[0]
    return kind


def _parse(kind: Any, text: str) -> Any:
    origin = typing.get_origin(kind)
    if origin is Literal:
        if text not in typing.get_args(kind):
            raise ValueError(f"{text!r} is none of {', '.join(map(str, typing.get_args(kind)))}.")
        return text
    if origin in (tuple, list) or kind is tuple:
        entry = (typing.get_args(kind) or (str,))[0]
        return tuple(_parse(entry, part) for part in text.split(",") if part)
    if inspect.isclass(kind) and issubclass(kind, Plain):
        return kind.parse(text)
    if kind is bool:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise ValueError(f"{text!r} is neither true nor false.")
        return text.lower() in ("true", "yes", "1")
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {'a whole number' if kind is int else 'a number'}.") from None
    return text


def merge(groups: Mapping[str, Mapping[str, Option]]) -> dict[str, tuple[str, Option]]:
    """All options by name with their group; the same name in two groups is a fault of the package."""
    merged: dict[str, tuple[str, Option]] = {}
    for group, options in groups.items():
        for name, option in options.items():
            if name in merged:
                raise ValueError(
                    f"The option {name!r} belongs to both {merged[name][0]} and {group}: rename one."
                )
            merged[name] = (group, option)
    return merged
