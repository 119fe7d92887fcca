"""Settings as plain data: how an object says what it was made from, and how it is made again.

Reading a description runs no code that the description names: networks resolve inside `unbraid.nn` alone, and
plain values (schedules, likelihoods, optimisers) among the subclasses of `Plain`.
"""

import inspect
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

from torch import nn

D = TypeVar("D", bound="Described")


class Described:
    """Remembers the arguments it was constructed with."""

    arguments: dict[str, Any]

    def __new__(cls: type[D], *args: Any, **kwargs: Any) -> D:
        self = object.__new__(cls)
        bound = inspect.signature(cls.__init__).bind_partial(self, *args, **kwargs)
        bound.apply_defaults()
        self.__dict__["arguments"] = {
            name: value for name, value in bound.arguments.items() if name != "self"
        }
        return self


class Plain:
    """Base of frozen dataclasses that are settings themselves, such as a schedule or a likelihood.

    On the command line one is written as its name and its numbers: `linear:0:25:100000`.
    """

    kinds: dict[str, type["Plain"]] = {}  # noqa: RUF012

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        Plain.kinds[cls.__name__.lower()] = cls

    @classmethod
    def parse(cls, text: str) -> "Plain":
        """Reads `name:value:value`; the name must be that of a kind of this class."""
        name, *values = text.split(":")
        kinds = {
            key: kind for key, kind in Plain.kinds.items() if issubclass(kind, cls) and is_dataclass(kind)
        }
        if name not in kinds:
            raise ValueError(f"{text!r} is none of {', '.join(_usage(kind) for kind in kinds.values())}.")
        try:
            types = [field.type for field in fields(kinds[name])]  # type: ignore[arg-type]
            if len(values) > len(types):
                raise ValueError(f"it has {len(values)} values, and at most {len(types)} are allowed")
            needed = sum(field.default is MISSING for field in fields(kinds[name]))  # type: ignore[arg-type]
            if len(values) < needed:
                raise ValueError(f"it has {len(values)} values, and at least {needed} are needed")
            return kinds[name](*(_number(value, type) for value, type in zip(values, types, strict=False)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{text!r} should read {_usage(kinds[name])}: {error}") from None

    def __str__(self) -> str:
        values = [getattr(self, field.name) for field in fields(self)]  # type: ignore[arg-type]
        return ":".join([type(self).__name__.lower(), *map(str, values)])

    def short(self) -> str:
        """As `str`, without the trailing values that are the defaults: adam:0.001."""
        text = str(self)
        while ":" in text:
            shorter = text.rpartition(":")[0]
            try:
                if Plain.parse(shorter) != self:
                    return text
            except ValueError:
                return text
            text = shorter
        return text


def _usage(kind: type[Plain]) -> str:
    return ":".join([kind.__name__.lower(), *(field.name.upper() for field in fields(kind))])  # type: ignore[arg-type]


def _number(text: str, kind: Any) -> float | int:
    number = float(text)
    if kind is not int:
        return number
    if not number.is_integer():
        raise ValueError(f"{text} is not a whole number")
    return int(number)


def describe(value: Any) -> Any:
    """The value as JSON can hold it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Plain):
        return {"plain": str(value)}
    if isinstance(value, Described) and type(value).__module__.startswith("unbraid.nn"):
        return {"network": type(value).__name__, "arguments": describe(value.arguments)}
    if isinstance(value, nn.Module):
        shapes = [list(parameter.shape) for parameter in value.parameters()]
        return {"own": f"{type(value).__module__}.{type(value).__qualname__}", "parameters": shapes}
    if isinstance(value, Mapping):
        return {str(key): describe(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [describe(entry) for entry in value]
    raise ValueError(f"A setting must be a number, a text or a list of them; got {value!r}.")


def rebuild(description: Any) -> Any:
    """The value that `describe` described; lists come back as tuples."""
    if isinstance(description, list):
        return tuple(rebuild(entry) for entry in description)
    if not isinstance(description, dict):
        return description
    if "plain" in description:
        return Plain.parse(description["plain"])
    if "network" in description:
        from unbraid import nn as networks

        name = description["network"]
        kind = getattr(networks, name) if name in networks.__all__ else None
        if not (isinstance(kind, type) and issubclass(kind, networks.Network)):
            raise ValueError(
                f"unbraid.nn has no network {name!r}: the file is damaged or from a later version."
            )
        return kind(**rebuild(description["arguments"]))
    if "own" in description:
        raise ValueError(f"The run used a network of its own, {description['own']}: pass it to load.")
    return {key: rebuild(entry) for key, entry in description.items()}


def flatten(description: Any, name: str = "") -> dict[str, str]:
    """A description as one text for each setting, by dotted names: `method.arguments.beta`."""
    if isinstance(description, dict) and "plain" not in description:
        return {
            inner: text
            for key, entry in description.items()
            for inner, text in flatten(entry, f"{name}.{key}".lstrip(".")).items()
        }
    if isinstance(description, dict):
        return {name: description["plain"]}
    if isinstance(description, list):
        return {name: ", ".join("".join(flatten(entry, "").values()) for entry in description)}
    return {name: str(description)}


def require_nonnegative(**settings: float) -> None:
    """Raises unless every setting is a finite number of at least 0."""
    for name, value in settings.items():
        if not 0 <= value < math.inf:  # false for NaN too
            raise ValueError(f"{name} must be a finite number of at least 0; got {value}.")
