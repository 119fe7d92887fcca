"""MNIST: written digits. LeCun and Cortes, 2010. Beside it, the digits that scikit-learn brings along."""

import gzip
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor
from torch.nn import functional as F

from unbraid.data.dataset import Dataset
from unbraid.data.download import Files, Source
from unbraid.data.factors import FactorSpace
from unbraid.data.unpack import readable

Digits = Literal["auto", "mnist", "bundled"]
Part = Literal["train", "test"]
SIDE, INNER = 28, 20  # of a picture, and of the digit in it
SOURCES = {
    name: Source(
        url=f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}.gz",
        sha256=hash,
        file=f"mnist/{name}.gz",
        dataset="digits",
    )
    for name, hash in {
        "train-images-idx3-ubyte": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1-ubyte": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "t10k-images-idx3-ubyte": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "t10k-labels-idx1-ubyte": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    }.items()
}
FILES = Files(tuple(SOURCES.values()))


def digits(
    root: Path | None = None,
    *,
    part: Part = "train",
    digits: Digits = "auto",
    size: int = 28,
) -> Dataset:
    """Written digits in grey: MNIST, or scikit-learn's bundled digits where its files are missing.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        part: The training digits or the test digits.
        digits: `mnist`, `bundled`, or `auto`: mnist where its files are, bundled otherwise.
        size: Side of the picture in pixels; above 28 it gets a black border.
    """
    images, labels = read_digits(root, part=part, digits=digits)
    return Dataset(
        with_border(images, size)[:, None],
        name="-".join(["mnist" if which(digits, root) == "mnist" else "bundled-digits", *_rest(part)]),
        space=FactorSpace({"digit": 10}),
        combinations=labels,
        label="digit",
    )


def read_digits(
    root: Path | str | None = None, *, part: Part = "train", digits: Digits = "auto"
) -> tuple[UInt8[Tensor, "n 28 28"], Int[Tensor, " n"]]:
    """The pictures of written digits, white on black, and which digit each is."""
    return _mnist(part, root) if which(digits, root) == "mnist" else _bundled(part)


def which(digits: str, root: Path | str | None = None) -> Literal["mnist", "bundled"]:
    """Whether the digits are MNIST's or the bundled ones."""
    if digits not in get_args(Digits):
        raise ValueError(f"The digits are {', '.join(get_args(Digits))}; got digits={digits!r}.")
    if digits == "auto":
        return "mnist" if FILES.here(root) else "bundled"
    return "mnist" if digits == "mnist" else "bundled"


def source(*, digits: Digits = "auto", **_: object) -> Files | None:
    """The official files that a dataset of digits is made from; none for the bundled ones."""
    return None if digits == "bundled" else FILES


def with_border(images: UInt8[Tensor, "n 28 28"], size: int) -> UInt8[Tensor, "n s s"]:
    """The pictures in the middle of larger black ones."""
    if size < SIDE or size % 2:
        raise ValueError(f"Pictures of digits have an even side of at least {SIDE} pixels; got size={size}.")
    return F.pad(images, ((size - SIDE) // 2,) * 4)


def _rest(part: Part) -> tuple[str, ...]:
    return () if part == "train" else (part,)


def _mnist(part: Part, root: Path | str | None) -> tuple[Tensor, Tensor]:
    prefix, count = ("train", 60_000) if part == "train" else ("t10k", 10_000)
    images = read_idx(SOURCES[f"{prefix}-images-idx3-ubyte"].locate(root), (count, SIDE, SIDE))
    labels = read_idx(SOURCES[f"{prefix}-labels-idx1-ubyte"].locate(root), (count,))
    return images, labels.long()


def read_idx(path: Path, shape: tuple[int, ...]) -> UInt8[Tensor, "..."]:
    """The bytes of a gzipped idx file of the given shape."""
    with readable(path):
        return as_idx(path.read_bytes(), shape)


def as_idx(compressed: bytes, shape: tuple[int, ...]) -> UInt8[Tensor, "..."]:
    """What a gzipped idx file of bytes holds, which must be of the given shape."""
    header, content = 4 + 4 * len(shape), gzip.decompress(compressed)
    if content[:4] != bytes([0, 0, 8, len(shape)]):
        raise ValueError("it is no idx file of bytes")
    found = tuple(np.frombuffer(content, ">u4", len(shape), 4).tolist())
    if found != shape or len(content) != header + int(np.prod(shape)):
        raise ValueError(f"it should hold {shape}, and announces {found} in {len(content)} bytes")
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=header).reshape(shape).copy())


def _bundled(part: Part) -> tuple[Tensor, Tensor]:
    """scikit-learn's 1,797 digits of 8×8, brought to MNIST's layout; every fifth tests."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    small = torch.from_numpy(pixels).float().view(-1, 1, 8, 8) / 16
    large = F.interpolate(small, (INNER, INNER), mode="bicubic").clamp(0, 1)
    images = F.pad((large[:, 0] * 255).round().to(torch.uint8), ((SIDE - INNER) // 2,) * 4)
    tests = torch.arange(len(images)) % 5 == 4
    chosen = tests if part == "test" else ~tests
    return images[chosen], torch.from_numpy(labels).long()[chosen]
