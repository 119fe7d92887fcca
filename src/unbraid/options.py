"""Options: the arguments of constructors, under the names that the command line and recipes use."""

import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from unbraid.settings import Spec, lookup, parse_number

T = TypeVar("T")
OptionType = TypeVar("OptionType", "Option", "ListedOption")


class Option(NamedTuple):
    """One argument of a constructor."""

    name: str
    kind: Any  # the annotation, without None
    default: Any
    help: str

    @property
    def is_switch(self) -> bool:
        """Whether the option is on or off: --antialias or --no-antialias."""
        return self.kind is bool

    @property
    def form(self) -> str:
        """The form of a value, as help shows it."""
        return _form(self.kind)

    def listed(self) -> "ListedOption":
        """The option as help shows it."""
        return ListedOption(self.name, self.is_switch, self.form, self.help + _shown_default(self.default))

    def parse(self, text: str) -> Any:
        """The value written as text on the command line."""
        try:
            return _parse(self.kind, text)
        except ValueError as error:
            raise ValueError(f"--{self.name.replace('_', '-')}: {error}") from None


class ListedOption(NamedTuple):
    """An option as help shows it."""

    name: str
    is_switch: bool
    form: str  # of the value
    help: str  # with the default


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
        implied = str if default is None else type(default)  # without an annotation
        options[name] = Option(
            name, _without_none(hints.get(name, implied)), default, help_texts.get(name, "")
        )
    return options


def require_values(subject: str, constructor: Callable[..., Any], given: Collection[str]) -> None:
    """Raises if an argument has neither a value nor a default.

    >>> require_values("The dataset stars", lambda size, *, noise=0.0: None, {"noise"})
    Traceback (most recent call last):
        ...
    ValueError: The dataset stars requires a value of size. Pass it as an option, or give it a default.
    """
    missing = [
        parameter.name
        for parameter in inspect.signature(constructor).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.name not in given
    ]
    if missing:
        raise ValueError(
            f"{subject} requires a value of {' and of '.join(missing)}. Pass it as an option, or give it a default."
        )


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
    >>> to_cli_args("data.noise", 0.1), to_cli_args("data.antialias", False)
    (['--data.noise', '0.1'], ['--data.no-antialias'])
    """
    owner, dot, short = name.replace("_", "-").rpartition(".")
    flag = f"--{owner}{dot}{short}"
    if isinstance(value, bool):
        return [flag if value else f"--{owner}{dot}no-{short}"]
    if isinstance(value, tuple | list):
        return [flag, ",".join(map(str, value))]
    return [flag, value.short() if isinstance(value, Spec) else str(value)]


def _form(kind: Any) -> str:
    """The form of an option's value, as help shows it."""
    if typing.get_origin(kind) is Literal:
        return "|".join(map(str, typing.get_args(kind)))
    if typing.get_origin(kind) is tuple:
        return "a,b,…"
    if inspect.isclass(kind) and issubclass(kind, Spec):
        return "name:value:…"
    return getattr(kind, "__name__", "text")


FORMS = {
    **{"int": "a whole number", "integer": "a whole number", "float": "a number", "bool": "no value"},
    **{"boolean": "no value", "str": "a text", "text": "a text", "path": "a path"},
}


def reject_negation(name: str, form: str) -> None:
    """Raises the sentence for `--no-NAME` of an option that is no switch."""
    owner, dot, short = name.rpartition(".")
    raise ValueError(f"--{name} takes {FORMS.get(form, form)}; there is no --{owner}{dot}no-{short}.")


def _shown_default(default: Any) -> str:
    if default is None or default == ():
        return ""
    if isinstance(default, bool):
        return f" [default: {'on' if default else 'off'}]"
    return f" [default: {','.join(map(str, default)) if isinstance(default, tuple) else default}]"


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
        parts = text.split(",") if text else []
        if "" in parts:
            raise ValueError(f"{text!r} has an empty entry: entries are separated by one comma each.")
        return tuple(_parse(entry, part) for part in parts)
    if inspect.isclass(kind) and issubclass(kind, Spec):
        return kind.parse(text)
    if kind is bool:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise ValueError(f"{text!r} must be true or false.")
        return text.lower() in ("true", "yes", "1")
    return parse_number(text, kind) if kind in (int, float) else text


class Namespaces(Generic[OptionType]):
    """Options by owner. A short name is enough where one owner has it; the full name `owner.name` is always understood.

    Args:
        owners: The options of each owner: method, network, data, draw, training, …
        labels: What each owner is called in error messages: `the dataset sprites`.
    """

    def __init__(self, owners: Mapping[str, Mapping[str, OptionType]], labels: Mapping[str, str]) -> None:
        self.owners, self.labels = owners, labels

    def __iter__(self) -> Iterator[tuple[str, OptionType]]:
        for owner, options in self.owners.items():
            for option in options.values():
                yield owner, option

    def owners_of(self, name: str) -> list[str]:
        """The owners that have an option of this short name."""
        return [owner for owner, options in self.owners.items() if name in options]

    def shortest(self, owner: str, name: str) -> str:
        """The short name if no other owner has it, otherwise the full name."""
        return name if len(self.owners_of(name)) == 1 else f"{owner}.{name}"

    def find(self, name: str) -> tuple[str, OptionType]:
        """The owner and the option of a short or full name; raises for an unknown or ambiguous name."""
        owner, dot, short = name.partition(".")
        if dot:
            options = lookup("group of options", owner, self.owners)
            return owner, lookup(f"option of {self.labels[owner]}", short, options)
        owners = self.owners_of(name)
        if len(owners) == 1:
            return owners[0], self.owners[owners[0]][name]
        if not owners:
            lookup(f"option {self._scope()}", name, {option.name: option for _, option in self})
        raise ValueError(self.ambiguous(name))

    def ambiguous(self, name: str, *, prefix: str = "", separator: str = "_") -> str:
        """The sentence for a short name that several owners have."""
        owners, written = self.owners_of(name), name.replace("_", separator)
        return (
            f"The option {prefix}{written} belongs to {' and to '.join(self.labels[owner] for owner in owners)}. Write "
            f"{' or '.join(f'{prefix}{owner}.{written}' for owner in owners)}."
        )

    def group(self, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The values by owner and short name; raises for an option that is given twice."""
        grouped: dict[str, dict[str, Any]] = {owner: {} for owner in self.owners}
        for name, value in values.items():
            owner, option = self.find(name)
            if option.name in grouped[owner]:
                raise ValueError(f"The option {owner}.{option.name} is given twice. Remove one of the two.")
            grouped[owner][option.name] = value
        return grouped

    def _scope(self) -> str:
        labels = [self.labels[owner] for owner in ("method", "data") if owner in self.labels]
        return "of " + " on ".join(labels) if labels else ""


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
