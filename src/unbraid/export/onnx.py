"""ONNX: one file for the encoder and one for the decoder, for any runtime that reads it."""

import importlib.util
import json
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.export.modules import output_names
from unbraid.export.package import Outputs, Package, Reader

NEEDED = ("onnx", "onnxscript", "onnxruntime")


def write(package: Package, folder: Path) -> None:
    """Writes encoder.onnx and, where there is a decoder, decoder.onnx; the batch may have any size.

    Method, data and strands are also in the files' own metadata.
    """
    inputs = package.inputs(2)
    names = output_names(package.model.method)
    given = ["given"] * len(inputs.given)
    strands = {name: list(indices) for name, indices in package.model.strands.items()}
    said = {"method": package.run.method_name, "data": package.run.data_name, "strands": json.dumps(strands)}
    seen = (inputs.observations, *inputs.given)
    _write(package.encoder, seen, ["observations", *given], names, folder / "encoder.onnx", said)
    if package.decoder is not None:
        codes, _ = package.expected(inputs)
        decoded = (codes, *inputs.given)
        _write(package.decoder, decoded, ["codes", *given], ["observations"], folder / "decoder.onnx", said)


def read(package: Package, folder: Path) -> Reader:
    """The files, run by ONNX Runtime."""
    encode, decode = _session(folder / "encoder.onnx"), None
    if package.decoder is not None:
        decode = _session(folder / "decoder.onnx")
    return Reader(encode, None if decode is None else lambda *inputs: decode(*inputs)["observations"])


def require() -> None:
    """Raises unless what ONNX needs is installed."""
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise ValueError(
            f"Export to ONNX needs {', '.join(missing)}: install it with `pip install unbraid[onnx]`, or export to "
            "torchscript."
        )


def _write(
    module: nn.Module,
    inputs: tuple[Tensor, ...],
    names: Sequence[str],
    outputs: Sequence[str],
    path: Path,
    said: Mapping[str, str],
) -> None:
    any_size = torch.export.Dim("n")
    with torch.no_grad(), _quietly():
        module(*inputs)  # what is kept from call to call is made outside of the recording
        program = torch.onnx.export(
            module,
            inputs,
            dynamo=True,
            input_names=list(names),
            output_names=list(outputs),
            dynamic_shapes=tuple({0: any_size} for _ in inputs),
            verbose=False,
        )
        assert program is not None
        program.model.metadata_props.update(said)
        program.save(path, external_data=False)


def _session(path: Path) -> "_Session":
    from onnxruntime import InferenceSession

    return _Session(InferenceSession(path, providers=["CPUExecutionProvider"]))


class _Session:
    """A file that ONNX Runtime has opened: tensors in, arrays by name out."""

    def __init__(self, session: object) -> None:
        self._session = session

    def __call__(self, *inputs: Tensor) -> Outputs:
        session = self._session
        named = zip(session.get_inputs(), inputs, strict=True)  # type: ignore[attr-defined]
        found = session.run(None, {entry.name: value.numpy() for entry, value in named})  # type: ignore[attr-defined]
        names = [entry.name for entry in session.get_outputs()]  # type: ignore[attr-defined]
        return dict(zip(names, map(np.asarray, found), strict=True))


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the exporter's remarks on its own parts."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
