"""A method with its networks, made from names and numbers alone."""

import inspect
import typing
from typing import Any, TypeVar

import torch
from torch import nn

from unbraid.methods.base import Facts, Method
from unbraid.naming import choose
from unbraid.seeds import derive

M = TypeVar("M", bound=Method)
SIZES = ("n", "classes", "nuisances")  # constructor parameters that the data fills


def assemble(
    cls: type[M],
    shape: tuple[int, ...],
    *,
    n: int,
    classes: int = 0,
    nuisances: tuple[int, ...] = (),
    codes: int = 10,
    architecture: str = "conv",
    seed: int | None = None,
    **settings: Any,
) -> M:
    """Makes a method for observations of the given shape.

    The constructor's networks, and its parameters `n`, `classes` and `nuisances`, are filled by `cls.parts` unless
    they are among the settings.

    Args:
        cls: The class of the method.
        shape: The shape of one observation.
        n: The number of observations in the dataset.
        classes: The number of values of the label; 0 without one.
        nuisances: The number of values of each known nuisance.
        codes: The number of dimensions of the code.
        architecture: The encoder and decoder, one of `unbraid.nn.ARCHITECTURES`.
        seed: Of the first weights; left out, they come from torch's default generator as it stands.
        **settings: The method's own settings, and networks of one's own.
    """
    parameters = inspect.signature(cls).parameters
    own = {name: parameter for name, parameter in parameters.items() if name not in filled(cls)}
    for name in settings.keys() - parameters.keys():
        choose(f"setting of {cls.name()}", name, own)  # raises, with the nearest name
    wanted = parameters.keys() - settings.keys()
    if seed is not None:
        torch.manual_seed(derive(seed, "weights"))
    facts = Facts(shape, n, classes, nuisances, codes, architecture)
    parts = cls.parts(facts, wanted, settings)
    return cls(**{name: part for name, part in parts.items() if name in wanted}, **settings)


def filled(cls: type[Method]) -> tuple[str, ...]:
    """The constructor parameters that are no settings: networks, and sizes that the data has."""
    kinds = typing.get_type_hints(cls.__init__)
    return tuple(
        name for name in inspect.signature(cls).parameters if name in SIZES or _network(kinds.get(name))
    )


def _network(kind: Any) -> bool:
    """Whether an annotation is that of a network, needed or not."""
    kinds = typing.get_args(kind) or (kind,)
    return any(inspect.isclass(entry) and issubclass(entry, nn.Module) for entry in kinds)
