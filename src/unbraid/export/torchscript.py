"""TorchScript: one file for the encoder and one for the decoder, for torch without Unbraid, and for C++.

PyTorch maintains TorchScript without developing it further; its successor, torch.export, requires compilation before
C++ can load it.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unbraid.export.bundle import ExportBundle, Outputs, Reader


def write(bundle: ExportBundle, folder: Path) -> None:
    """Writes encoder.pt and, if the method has a decoder, decoder.pt, for batches of any size."""
    inputs = bundle.inputs(2)
    _write(bundle.encoder, (inputs.observations, *inputs.condition), folder / "encoder.pt")
    if bundle.decoder is not None:
        codes, _ = bundle.expected(inputs)
        _write(bundle.decoder, (codes, *inputs.condition), folder / "decoder.pt")


def read(bundle: ExportBundle, folder: Path) -> Reader:
    """Opens the files with torch."""
    encode, decode = _load(folder / "encoder.pt"), None
    if bundle.decoder is not None:
        decode = _load(folder / "decoder.pt")

    def codes(*inputs: Tensor) -> Outputs:
        return {name: values.numpy() for name, values in encode(*inputs).items()}

    return Reader(codes, None if decode is None else lambda *inputs: decode(*inputs).numpy())


def _write(module: nn.Module, inputs: tuple[Tensor, ...], path: Path) -> None:
    with torch.no_grad(), _quietly():
        module(*inputs)  # fills caches before tracing
        traced = torch.jit.trace(module, inputs, strict=False, check_trace=False)
        content = BytesIO()  # torch opens files only by names in UTF-8
        torch.jit.save(traced, content)
    path.write_bytes(content.getvalue())


def _load(path: Path) -> Callable[..., Any]:
    with _quietly():
        module = torch.jit.load(BytesIO(path.read_bytes()))

    def run(*inputs: Tensor) -> Any:
        with torch.no_grad():
            return module(*inputs)

    return run


@contextmanager
def _quietly() -> Iterator[None]:
    """Silences deprecation warnings, and warnings about traced shapes, which `check` covers with other batch sizes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
