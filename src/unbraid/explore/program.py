"""A decoder as a list of plain steps, which a browser can take as well as PyTorch."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

CODES, GIVEN = "codes", "given"  # what a program starts from


class Step(NamedTuple):
    """One operation: what is done, with which values, in which way, and what shape comes out."""

    name: str
    do: str
    of: tuple[str, ...]
    shape: tuple[int, ...]
    how: dict[str, Any]


class Program(NamedTuple):
    """Steps from one code to one observation; values go by name, and constants are the weights."""

    inputs: dict[str, int]  # the number of columns of each
    constants: dict[str, Tensor]
    steps: tuple[Step, ...]
    output: str

    def run(self, codes: Tensor, given: Tensor | None = None) -> Tensor:
        """What the steps make of a code, (1, d), with what a conditional method is given beside it.

        This is what the steps mean: `decoder.js` does the same in a browser.
        """
        values = self.constants | {CODES: codes}
        if given is not None:
            values[GIVEN] = given.to(codes.dtype)
        for step in self.steps:
            taken = [values[name] for name in step.of]
            values[step.name] = DOING[step.do](*taken, **step.how).reshape(step.shape)
        return values[self.output]


def _crop(x: Tensor, amounts: list[int]) -> Tensor:
    return F.pad(x, amounts)


def _unfold(x: Tensor, kernel: int, stride: int, padding: int) -> Tensor:
    return F.unfold(x, kernel, padding=padding, stride=stride)


def _fold(x: Tensor, sides: list[int], kernel: int, stride: int, padding: int) -> Tensor:
    return F.fold(x[None], (sides[0], sides[1]), kernel, padding=padding, stride=stride)


DOING: Mapping[str, Callable[..., Tensor]] = {
    "multiply": torch.matmul,  # of two matrices
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
    "atan": torch.atan,
    "negative": torch.neg,
    "clamp": lambda x, least, most: x.clamp(least, most),
    "mean": lambda x, axis: x.mean(axis, keepdim=True),
    "reshape": lambda x: x,
    "permute": lambda x, order: x.permute(order),
    "take": lambda x, axis, places: x.index_select(axis, torch.tensor(places)),
    "join": lambda *x, axis: torch.cat(x, axis),
    "pad": _crop,  # before and after, the last axis first; less than 0 cuts off
    "unfold": _unfold,  # the patches around each pixel, as columns
    "fold": _fold,  # columns laid back as patches, which add up where they overlap
}
