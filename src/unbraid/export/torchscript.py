"""TorchScript: one file for the encoder and one for the decoder, for torch without Unbraid, and for C++.

PyTorch keeps TorchScript as it is and adds nothing to it; what comes after it, torch.export, cannot be loaded from C++
without compiling first.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.export.package import Outputs, Package, Reader


def write(package: Package, folder: Path) -> None:
    """Writes encoder.pt and, where there is a decoder, decoder.pt; the batch may have any size."""
    inputs = package.inputs(2)
    _write(package.encoder, (inputs.observations, *inputs.given), folder / "encoder.pt")
    if package.decoder is not None:
        codes, _ = package.expected(inputs)
        _write(package.decoder, (codes, *inputs.given), folder / "decoder.pt")


def read(package: Package, folder: Path) -> Reader:
    """The files, run by torch."""
    encode, decode = _load(folder / "encoder.pt"), None
    if package.decoder is not None:
        decode = _load(folder / "decoder.pt")

    def codes(*inputs: Tensor) -> Outputs:
        return {name: values.numpy() for name, values in encode(*inputs).items()}

    return Reader(codes, None if decode is None else lambda *inputs: decode(*inputs).numpy())


def _write(module: nn.Module, inputs: tuple[Tensor, ...], path: Path) -> None:
    with torch.no_grad(), _quietly():
        module(*inputs)  # what is kept from call to call is made outside of the recording
        traced = torch.jit.trace(module, inputs, strict=False, check_trace=False)
        torch.jit.save(traced, path)


def _load(path: Path) -> Callable[..., Any]:
    with _quietly():
        module = torch.jit.load(path)

    def run(*inputs: Tensor) -> Any:
        with torch.no_grad():
            return module(*inputs)

    return run


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what PyTorch says of TorchScript's age, and of shapes that a recording keeps: `check` tries others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
