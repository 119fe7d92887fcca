"""Options: the arguments of constructors, under the names that the command line and recipes use."""

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple, TypeVar

from unbraid.settings import Spec

T = TypeVar("T")


class Option(NamedTuple):
    """One argument of a constructor."""

    name: str
    kind: Any  # the annotation, without None
    default: Any
    help: str

    def parse(self, text: str) -> Any:
        """The value written as text on the command line."""
        try:
            return _parse(self.kind, text)
        except ValueError as error:
            raise ValueError(f"--{self.name.replace('_', '-')}: {error}") from None


def options_of(constructor: Callable[..., Any], *, leave_out: tuple[str, ...] = ()) -> dict[str, Option]:
    """The arguments of a constructor by name, with the help from its docstring."""
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

    >>> argument_help("A VAE.\\n\\nArgs:\\n    beta: Weight\\n        of the KL.\\n    seed: Random seed.")
    {'beta': 'Weight of the KL.', 'seed': 'Random seed.'}
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


def to_cli_args(name: str, value: Any) -> list[str]:
    """The command-line arguments that set an option to a value.

    >>> to_cli_args("skip_broken", False), to_cli_args("fixed_factors", ("shape", "scale"))
    (['--no-skip-broken'], ['--fixed-factors', 'shape,scale'])
    """
    dashed = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{dashed}" if value else f"--no-{dashed}"]
    if isinstance(value, tuple | list):
        return [f"--{dashed}", ",".join(map(str, value))]
    return [f"--{dashed}", value.short() if isinstance(value, Spec) else str(value)]


def usage(option: Option) -> str:
    """The form of the option's value, as help shows it."""
    if typing.get_origin(option.kind) is Literal:
        return "|".join(map(str, typing.get_args(option.kind)))
    if typing.get_origin(option.kind) is tuple:
        return "a,b,…"
    if inspect.isclass(option.kind) and issubclass(option.kind, Spec):
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
            raise ValueError(f"{text!r} must be one of {', '.join(map(str, typing.get_args(kind)))}.")
        return text
    if origin in (tuple, list) or kind is tuple:
        entry = (typing.get_args(kind) or (str,))[0]
        return tuple(_parse(entry, part) for part in text.split(",") if part)
    if inspect.isclass(kind) and issubclass(kind, Spec):
        return kind.parse(text)
    if kind is bool:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise ValueError(f"{text!r} must be true or false.")
        return text.lower() in ("true", "yes", "1")
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {'a whole number' if kind is int else 'a number'}.") from None
    return text


def merge(groups: Mapping[str, Mapping[str, Option]]) -> dict[str, tuple[str, Option]]:
    """All options by name with their group; raises for a name that is in two groups."""
    merged: dict[str, tuple[str, Option]] = {}
    for group, options in groups.items():
        for name, option in options.items():
            if name in merged:
                raise ValueError(
                    f"The option {name!r} belongs to both {merged[name][0]} and {group}: rename one."
                )
            merged[name] = (group, option)
    return merged


def first_sentence(documented: object) -> str:
    """The first paragraph of an object's docstring, on one line."""
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())


def with_arguments_of(source: Callable[..., Any], names: Collection[str]) -> Callable[[T], T]:
    """Decorator for a function, or for a class, that passes `**options` on to `source`.

    Puts the named arguments of `source` in the place of `**options` in signature, annotations and documentation, with
    their defaults and help, so that the command line and the documentation show them.
    """
    parameters = inspect.signature(source).parameters
    shared = [parameters[name] for name in parameters if name in names]
    texts = argument_help(inspect.getdoc(source) or "")

    def decorate(target: T) -> T:
        function: Any = target.__init__ if inspect.isclass(target) else target
        signature = inspect.signature(function)
        specific = [entry for entry in signature.parameters.values() if entry.kind is not entry.VAR_KEYWORD]
        kept = {"return", *(entry.name for entry in specific)}
        hints = {name: hint for name, hint in function.__annotations__.items() if name in kept}
        function.__signature__ = signature.replace(parameters=[*specific, *shared])
        function.__annotations__ = hints | {entry.name: entry.annotation for entry in shared}
        text = inspect.cleandoc(target.__doc__ or "").rstrip()
        heading = "" if "\nArgs:\n" in text else "\n\nArgs:"
        entries = [f"    {entry.name}: {texts[entry.name]}" for entry in shared]
        target.__doc__ = "\n".join([text + heading, *entries])
        return target

    return decorate
