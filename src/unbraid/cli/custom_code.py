"""Options with which commands that read a run take your own code again: `--method`, `--data` and `--architecture`."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import typer

C = TypeVar("C", bound=Callable[..., Any])
OPTIONS = {
    "method": ("FILE.py:CLASS", "Your own method that the run trained."),
    "data": ("FILE.py:FUNCTION", "Your own dataset that the run was trained on."),
    "architecture": ("FILE.py:FUNCTION", "Your own networks of the run."),
}


def takes_custom_code(*names: str) -> Callable[[C], C]:
    """Decorator for a command: adds the named options, and imports the code that they name before the command runs."""

    def decorate(command: C) -> C:
        @functools.wraps(command)
        def with_code(*args: Any, **values: Any) -> Any:
            for name in names:
                references = values.pop(f"custom_{name}", None) or ()
                _require_references(name, references)
                use_references(references)
            return command(*args, **values)

        parameters = [
            inspect.Parameter(
                f"custom_{name}",
                inspect.Parameter.KEYWORD_ONLY,
                annotation=Annotated[
                    list[str] | None,
                    typer.Option(f"--{name}", metavar=OPTIONS[name][0], help=OPTIONS[name][1]),
                ],
                default=None,
            )
            for name in names
        ]
        signature = inspect.signature(command)
        with_code.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*signature.parameters.values(), *parameters]
        )
        with_code.__annotations__ = command.__annotations__ | {
            parameter.name: parameter.annotation for parameter in parameters
        }
        return with_code  # type: ignore[return-value]

    return decorate


def _require_references(name: str, words: Sequence[str]) -> None:
    from unbraid.custom_code import is_reference
    from unbraid.nn import OVERLAY

    for word in words:
        if ":" not in word or not (word.startswith(OVERLAY) or is_reference(word)):
            raise ValueError(
                f"--{name} names your own code here, {OPTIONS[name][0]}; got {word!r}. Leave it out if the run used a "
                "name of Unbraid."
            )


def use_references(words: Any) -> None:
    """Imports every word that refers to your own code, such as `own.py:DecorVAE`; plain names are left alone."""
    from unbraid.custom_code import is_reference, use
    from unbraid.nn import OVERLAY

    for word in words:
        if word and ":" in word and not word.startswith(OVERLAY) and is_reference(word):
            use(word)
