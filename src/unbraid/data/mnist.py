"""MNIST: handwritten digits. LeCun and Cortes, 2010. Without its files, the digits bundled with scikit-learn."""

import gzip
import io
import math
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor
from torch.nn import functional as F

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.remote_file import RemoteFile, RemoteFiles
from unbraid.data.unpack import explain_read_errors

Digits = Literal["auto", "mnist", "bundled"]
Split = Literal["train", "test"]
SIDE, DIGIT_SIDE = 28, 20  # sides in pixels of an image, and of the digit in its center
ADDRESSES = (
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    "https://storage.googleapis.com/cvdf-datasets/mnist",
)
SOURCES = {
    name: RemoteFile(
        urls=tuple(f"{address}/{name}.gz" for address in ADDRESSES),
        file=f"mnist/{name}.gz",
        hashes=(f"sha256:{hash}",),
        size=size,
        dataset="digits",
    )
    for name, size, hash in (
        (
            "train-images-idx3-ubyte",
            9_912_422,
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        (
            "train-labels-idx1-ubyte",
            28_881,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        (
            "t10k-images-idx3-ubyte",
            1_648_877,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        (
            "t10k-labels-idx1-ubyte",
            4_542,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    )
}
FILES = RemoteFiles(tuple(SOURCES.values()))
LICENSES = {
    "mnist": "MNIST: CC BY-SA 3.0",
    "bundled": "scikit-learn's digits, from the UCI repository: CC BY 4.0",
}


def digits(
    root: Path | None = None,
    *,
    split: Split = "train",
    digits: Digits = "auto",
    image_size: int = 28,
) -> Dataset:
    """Handwritten digits in gray: MNIST, or scikit-learn's bundled digits if its files are missing.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        split: The training digits (`train`) or the test digits (`test`).
        digits: `mnist`, `bundled`, or `auto`: mnist if its files are present, otherwise bundled.
        image_size: Side of the images in pixels, at least 28; larger images get a black border.
    """
    digits = resolve_source(digits, root)
    images, labels = read_digits(root, split=split, digits=digits)
    return Dataset(
        with_border(images, image_size)[:, None],
        name="-".join(["mnist" if digits == "mnist" else "bundled-digits", *_split_suffix(split)]),
        factor_space=FactorSpace({"digit": 10}),
        combinations=labels,
        label="digit",
        license=digits_license(digits),
    )


def read_digits(
    root: Path | str | None = None, *, split: Split = "train", digits: Digits = "auto"
) -> tuple[UInt8[Tensor, "n 28 28"], Int[Tensor, " n"]]:
    """Images of handwritten digits, white on black, and their classes."""
    return _read_mnist(split, root) if resolve_source(digits, root) == "mnist" else _read_bundled(split)


def resolve_source(digits: str, root: Path | str | None = None) -> Literal["mnist", "bundled"]:
    """The source of the digits; `auto` is MNIST if its files are present, otherwise the bundled digits."""
    if digits not in get_args(Digits):
        raise ValueError(f"digits must be {', '.join(get_args(Digits))}; got digits={digits!r}.")
    if digits == "auto":
        return "mnist" if FILES.is_present(root) else "bundled"
    return "mnist" if digits == "mnist" else "bundled"


def digits_license(digits: Digits, *, photographs: bool = False) -> str:
    """The license of images of digits, which may be mixed with photographs of unknown license."""
    license = LICENSES[digits]
    return f"{license}; the license of the photographs is unknown" if photographs else license


def source(*, digits: Digits = "auto", **_: object) -> RemoteFiles | None:
    """The official files of a dataset of digits; None for the bundled digits."""
    return None if digits == "bundled" else FILES


def with_border(images: UInt8[Tensor, "n 28 28"], size: int) -> UInt8[Tensor, "n s s"]:
    """Images with a black border, which have the given side."""
    if size < SIDE or size % 2:
        raise ValueError(
            f"Images of digits need an even side of at least {SIDE} pixels; got image_size={size}."
        )
    return F.pad(images, ((size - SIDE) // 2,) * 4)


def _split_suffix(split: Split) -> tuple[str, ...]:
    """The end of a dataset's name: empty for the training split."""
    return () if split == "train" else (split,)


def _read_mnist(split: Split, root: Path | str | None) -> tuple[Tensor, Tensor]:
    prefix, count = ("train", 60_000) if split == "train" else ("t10k", 10_000)
    images = read_idx(SOURCES[f"{prefix}-images-idx3-ubyte"].require(root), (count, SIDE, SIDE))
    labels = read_idx(SOURCES[f"{prefix}-labels-idx1-ubyte"].require(root), (count,))
    return images, labels.long()


def read_idx(path: Path, shape: tuple[int, ...]) -> UInt8[Tensor, "..."]:
    """Reads the array of bytes in a gzipped idx file; raises unless it has the given shape."""
    with explain_read_errors(path):
        return parse_idx(path.read_bytes(), shape)


def idx_length(compressed: bytes) -> int:
    """The length of the first axis that the header of a gzipped idx file announces."""
    with gzip.GzipFile(fileobj=io.BytesIO(compressed)) as file:
        return int.from_bytes(file.read(8)[4:], "big")


def parse_idx(compressed: bytes, shape: tuple[int, ...]) -> UInt8[Tensor, "..."]:
    """The array of bytes in a gzipped idx file; raises unless it has the given shape."""
    header, size = 4 + 4 * len(shape), math.prod(shape)
    with gzip.GzipFile(fileobj=io.BytesIO(compressed)) as file:
        content = file.read(header + size + 1)  # one byte more shows that it is another file
    if content[:4] != bytes([0, 0, 8, len(shape)]):
        raise ValueError("it is not an idx file of bytes")
    stored_shape = tuple(np.frombuffer(content, ">u4", len(shape), 4).tolist())
    if stored_shape != shape or len(content) != header + size:
        raise ValueError(
            f"its shape should be {shape}, but its header has {stored_shape}, in {len(content)} bytes or more"
        )
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=header).reshape(shape).copy())


def _read_bundled(split: Split) -> tuple[Tensor, Tensor]:
    """scikit-learn's 1,797 digits of 8×8, enlarged to MNIST's layout; every fifth digit is for testing."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    small = torch.from_numpy(pixels).float().view(-1, 1, 8, 8) / 16
    large = F.interpolate(small, (DIGIT_SIDE, DIGIT_SIDE), mode="bicubic").clamp(0, 1)
    images = F.pad((large[:, 0] * 255).round().to(torch.uint8), ((SIDE - DIGIT_SIDE) // 2,) * 4)
    is_test = torch.arange(len(images)) % 5 == 4
    in_split = is_test if split == "test" else ~is_test
    return images[in_split], torch.from_numpy(labels).long()[in_split]
