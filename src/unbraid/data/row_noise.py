"""Gaussian noise that belongs to a row: the same numbers whenever the row is drawn, on every device, without memory."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

WORD = 0xFFFFFFFF  # the lower 32 bits


def row_noise(rows: Int[Tensor, " b"], size: int, *, seed: int) -> Float[Tensor, "b n"]:
    """Standard normal numbers, `size` per row, from a hash of the row, the position and the seed.

    Noise for all rows of a dataset would take as much memory as all their augmentations.
    """
    counter = rows[:, None] * size + torch.arange(size, device=rows.device)
    first, second = (_uniform(counter, seed + stream) for stream in (0, 1))
    return (-2 * first.log()).sqrt() * (2 * math.pi * second).cos()  # Box and Muller, 1958


def _uniform(counter: Int[Tensor, "b n"], seed: int) -> Float[Tensor, "b n"]:
    """Numbers between 0 and 1, neither included."""
    high = _mixed((counter >> 32) ^ _mixed(counter.new_tensor(seed & WORD)))
    bits = _mixed((counter & WORD) ^ high) >> 9  # 23 bits are exact in float32
    return (bits.float() + 0.5) / 2**23


def _mixed(word: Int[Tensor, "*b"]) -> Int[Tensor, "*b"]:
    """A bijection of 32-bit words in which each bit depends on all bits: the finalizer of MurmurHash3."""
    word = (word ^ (word >> 16)) * 0x85EBCA6B & WORD
    word = (word ^ (word >> 13)) * 0xC2B2AE35 & WORD
    return word ^ (word >> 16)
