"""A method with its networks, made from names and numbers alone."""

import inspect
from typing import Any, TypeVar

import torch

from unbraid.methods.base import Method
from unbraid.naming import choose
from unbraid.nn import Critic, networks
from unbraid.seeds import derive

M = TypeVar("M", bound=Method)
FILLED = ("encoder", "decoder", "critic", "n")  # constructor parameters that are filled by name


def assemble(
    cls: type[M],
    shape: tuple[int, ...],
    *,
    n: int,
    codes: int = 10,
    architecture: str = "conv",
    seed: int | None = None,
    **settings: Any,
) -> M:
    """Makes a method for observations of the given shape.

    The constructor's parameters `encoder`, `decoder`, `critic` and `n` are filled by name, unless they are
    among the settings.

    Args:
        cls: The class of the method.
        shape: The shape of one observation.
        n: The number of observations in the dataset.
        codes: The number of dimensions of the code.
        architecture: The encoder and decoder, one of `unbraid.nn.ARCHITECTURES`.
        **settings: The method's own settings, and networks of one's own.
    """
    parameters = inspect.signature(cls).parameters
    own = {name: parameter for name, parameter in parameters.items() if name not in FILLED}
    for name in settings.keys() - parameters.keys():
        choose(f"setting of {cls.name()}", name, own)  # raises, with the nearest name
    wanted = parameters.keys() - settings.keys()
    if seed is not None:
        torch.manual_seed(derive(seed, "weights"))
    parts: dict[str, Any] = {"n": n}
    if {"encoder", "decoder"} & wanted:
        parts["encoder"], parts["decoder"] = networks(architecture, shape, codes)
    if "critic" in wanted:
        parts["critic"] = Critic(getattr(settings.get("encoder"), "codes", codes))
    return cls(**{name: part for name, part in parts.items() if name in wanted}, **settings)
