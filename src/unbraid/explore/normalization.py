"""Normalization layers as operations of a program."""

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from unbraid.explore.trace import Call, Name


def batch_norm(call: "Call") -> "Name":
    """Batch normalization with running statistics: a scale and a shift per channel."""
    x, weight, bias, mean, variance = call.arguments[:5]
    scale = (variance + call.arguments[7]).rsqrt() * (1 if weight is None else weight)
    shift = (0 if bias is None else bias) - mean * scale
    per_channel = (-1, *[1] * (x.ndim - 2))
    scaled = call.add("times", call.name(0), call.reader.add_constant(scale.view(per_channel)), shape=x.shape)
    shifted = call.add("add", scaled, call.reader.add_constant(shift.view(per_channel)), shape=x.shape)
    return [shifted, "", ""]  # the statistics of the batch, which are not used


def group_norm(call: "Call") -> "Name":
    """Group normalization of one image: mean 0 and variance 1 per group of channels, then a scale and a shift."""
    x, weight, bias = call.arguments[:3]
    groups, eps = call.arguments[6:8]
    rows, one = (groups, x.numel() // groups), (groups, 1)
    flat = call.add("reshape", call.name(0), shape=rows)
    centered = call.add("subtract", flat, call.add("mean", flat, shape=one, axis=1), shape=rows)
    variance = call.add("mean", call.add("times", centered, centered, shape=rows), shape=one, axis=1)
    shifted = call.add("add", variance, call.reader.add_constant(torch.tensor(eps)), shape=one)
    normal = call.add("times", centered, call.add("rsqrt", shifted, shape=one), shape=rows)
    found = call.add("reshape", normal, shape=x.shape)
    per_channel = (-1, *[1] * (x.ndim - 2))
    for operation, constant in (("times", weight), ("add", bias)):
        if constant is not None:
            name = call.reader.add_constant(constant.view(per_channel))
            found = call.add(operation, found, name, shape=x.shape)
    return [found, "", ""]  # mean and inverse standard deviation, which are not used
