"""Recorded arguments, compared with the constructor that gets them."""

import functools
import inspect
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from unbraid.files import MAX_FLOAT


def require_arguments(cls: type, arguments: Mapping[str, Any]) -> None:
    """Raises ValueError unless a class of Unbraid can be constructed with recorded arguments: by name and type.

    Your own classes may take what their annotations do not say.
    """
    if not cls.__module__.startswith("unbraid."):
        return
    parameters = _parameters(cls)
    missing = [
        name for name, entry in parameters.items() if entry.default is entry.empty and name not in arguments
    ]
    if missing or not arguments.keys() <= parameters.keys():
        name = (missing or sorted(arguments.keys() - parameters.keys()))[0]
        raise ValueError(f"{cls.__name__} {'needs the' if missing else 'has no'} argument {name!r}.")
    require_types(cls.__init__, arguments, cls.__name__)


def require_types(function: Callable[..., Any], arguments: Mapping[str, Any], owner: str) -> None:
    """Raises ValueError unless the recorded arguments that a function of Unbraid has are of the annotated types."""
    hints = _hints(function) if function.__module__.startswith("unbraid.") else {}
    for name, value in arguments.items():
        if name in hints and not _fits(value, hints[name]):
            kind = hints[name].__name__ if inspect.isclass(hints[name]) else str(hints[name])
            raise ValueError(f"{name} of {owner} must be of type {kind}, and is {value!r:.60}.")


@functools.cache
def _parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(cls).parameters


@functools.cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(function)


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value has the type of an annotation."""
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        return value in inner
    if get_origin(kind) in (Union, UnionType):
        return any(_fits(value, entry) for entry in inner)
    if get_origin(kind) is tuple:
        kinds = [inner[0]] * len(value) if isinstance(value, tuple) and inner[-1] is ... else inner
        return isinstance(value, tuple) and len(value) == len(kinds) and all(map(_fits, value, kinds))
    if kind in (int, float):
        number = isinstance(value, int | kind) and not isinstance(value, bool)
        return number and abs(value) < (2**53 if kind is int else MAX_FLOAT)  # false for NaN, too
    return not inspect.isclass(kind) or isinstance(value, kind)
