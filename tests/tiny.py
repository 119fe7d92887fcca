"""Methods and batches small enough to compute by hand, in float64."""

import inspect
from typing import Any, TypeVar

import torch

from unbraid import methods
from unbraid.methods.assemble import assemble
from unbraid.methods.base import Method
from unbraid.nn import Critic, MLPDecoder, MLPEncoder
from unbraid.types import Batch, Observations, PairBatch, Terms

M = TypeVar("M", bound=Method)

SHAPE, CODES, N = (1, 3, 3), 4, 100
METHODS: list[type[Method]] = [getattr(methods, name) for name in methods.__all__]


def images(size: int = 8, *, seed: int = 1) -> Observations:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(size, *SHAPE, generator=generator, dtype=torch.float64)


def batch_for(cls: type[Method], size: int = 8, *, seed: int = 1) -> Any:
    """A batch of the type that the method learns from."""
    x = images(size, seed=seed)
    if cls.batch is Batch:
        return Batch(x)
    if cls.batch is PairBatch:
        k = torch.ones(size, dtype=torch.long)
        return PairBatch(x, images(size, seed=seed + 1000), k)
    raise ValueError(f"There is no tiny {cls.batch.__name__} yet: add it here.")


def make(cls: type[M], *, seed: int = 0, **settings: Any) -> M:
    """A method with networks of a few weights, always the same ones for a seed."""
    torch.manual_seed(seed)
    parts = {
        "encoder": MLPEncoder(SHAPE, CODES, hidden=(16,)),
        "decoder": MLPDecoder(CODES, SHAPE, hidden=(16,)),
        "critic": Critic(CODES, width=16, layers=2),
    }
    wanted = {name: part for name, part in parts.items() if name in inspect.signature(cls).parameters}
    method = assemble(cls, SHAPE, n=N, **wanted, **settings)
    with torch.no_grad():  # posteriors that are not all nearly alike
        for parameter in method.parameters():
            parameter.mul_(3)
    return method.double()


def loss(method: Method, *batches: Any, seed: int = 2) -> Terms:
    """The loss with the same noise at every call."""
    torch.manual_seed(seed)
    return method.loss(*batches)
