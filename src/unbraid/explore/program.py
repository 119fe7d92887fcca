"""A decoder as a list of operations that both PyTorch and a browser can run."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

CODES, CONDITION = "codes", "condition"  # inputs of a program


class Op(NamedTuple):
    """One operation with its inputs, parameters and output shape."""

    name: str  # of its output
    operation: str
    inputs: tuple[str, ...]
    shape: tuple[int, ...]
    params: dict[str, Any]


class Program(NamedTuple):
    """Operations from one code to one observation. Values are referred to by name."""

    inputs: dict[str, int]  # number of columns of each
    constants: dict[str, Tensor]  # weights
    steps: tuple[Op, ...]
    output: str

    def run(self, codes: Tensor, condition: Tensor | None = None) -> Tensor:
        """The observation of a code (1, d) and, for a conditional method, its condition.

        This is the reference implementation; `decoder.js` runs the same operations in a browser.
        """
        values = self.constants | {CODES: codes}
        if condition is not None:
            values[CONDITION] = condition.to(codes.dtype)
        for step in self.steps:
            inputs = [values[name] for name in step.inputs]
            values[step.name] = OPERATIONS[step.operation](*inputs, **step.params).reshape(step.shape)
        return values[self.output]


def _pad(x: Tensor, amounts: list[int]) -> Tensor:
    return F.pad(x, amounts)


def _unfold(x: Tensor, kernel: int, stride: int, padding: int) -> Tensor:
    return F.unfold(x, kernel, padding=padding, stride=stride)


def _fold(x: Tensor, sides: list[int], kernel: int, stride: int, padding: int) -> Tensor:
    return F.fold(x[None], (sides[0], sides[1]), kernel, padding=padding, stride=stride)


OPERATIONS: Mapping[str, Callable[..., Tensor]] = {
    "multiply": torch.matmul,  # matrix product
    "add": torch.add,
    "subtract": torch.sub,
    "times": torch.mul,
    "divide": torch.div,
    "equal": lambda x, y: (x == y).to(x.dtype),
    "relu": F.relu,
    "leaky": lambda x, slope: F.leaky_relu(x, slope),
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "exp": torch.exp,
    "rsqrt": torch.rsqrt,
    "atan": torch.atan,
    "negative": torch.neg,
    "clamp": lambda x, min, max: x.clamp(min, max),
    "mean": lambda x, axis: x.mean(axis, keepdim=True),
    "reshape": lambda x: x,
    "permute": lambda x, order: x.permute(order),
    "take": lambda x, axis, indices: x.index_select(axis, torch.tensor(indices)),
    "join": lambda *x, axis: torch.cat(x, axis),
    "pad": _pad,  # before and after, last axis first; negative amounts crop
    "unfold": _unfold,  # patches as columns
    "fold": _fold,  # columns as patches, summed where they overlap
}
