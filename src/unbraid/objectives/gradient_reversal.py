"""Gradient reversal. Ganin et al., 2016, Domain-Adversarial Training of Neural Networks, arXiv:1505.07818."""

from typing import Any

import torch
from torch import Tensor

from unbraid.types import Codes


class _Reversal(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(codes: Tensor, weight: float) -> Tensor:
        return codes.view_as(codes)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float], output: Tensor) -> None:
        ctx.weight = inputs[1]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.weight * gradients[0], None


def reverse_gradient(codes: Codes, weight: float) -> Codes:
    """The unchanged codes, whose gradient is multiplied by -weight.

    Networks after this function minimize the loss; networks before it maximize the loss.
    """
    return _Reversal.apply(codes, weight)  # type: ignore[return-value]
