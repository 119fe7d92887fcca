"""ONNX: one file for the encoder and one for the decoder, for any ONNX runtime."""

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

from unbraid.export.bundle import ExportBundle, Outputs, Reader
from unbraid.export.modules import output_names

PACKAGES = ("onnx", "onnxscript", "onnxruntime")


def write(bundle: ExportBundle, folder: Path) -> None:
    """Writes encoder.onnx and, if the method has a decoder, decoder.onnx, for batches of any size.

    Method, data and strands are also in the metadata of the files.
    """
    inputs = bundle.inputs(2)
    names = output_names(bundle.model.method)
    condition = ["condition"] * len(inputs.condition)
    strands = {name: list(indices) for name, indices in bundle.model.strands.items()}
    metadata = {
        "method": bundle.run.method_name,
        "data": bundle.run.data_name,
        "strands": json.dumps(strands),
    }
    encoded = (inputs.observations, *inputs.condition)
    _write(bundle.encoder, encoded, ["observations", *condition], names, folder / "encoder.onnx", metadata)
    if bundle.decoder is not None:
        codes, _ = bundle.expected(inputs)
        decoded = (codes, *inputs.condition)
        path = folder / "decoder.onnx"
        _write(bundle.decoder, decoded, ["codes", *condition], ["observations"], path, metadata)


def read(bundle: ExportBundle, folder: Path) -> Reader:
    """Opens the files with ONNX Runtime."""
    encode, decode = _session(folder / "encoder.onnx"), None
    if bundle.decoder is not None:
        decode = _session(folder / "decoder.onnx")
    return Reader(encode, None if decode is None else lambda *inputs: decode(*inputs)["observations"])


def require() -> None:
    """Raises unless the packages for ONNX are installed."""
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        raise ValueError(
            f"Export to ONNX requires {', '.join(missing)}. Install it with `pip install unbraid[onnx]`, or export to "
            "torchscript."
        )


def _write(
    module: nn.Module,
    inputs: tuple[Tensor, ...],
    names: Sequence[str],
    outputs: Sequence[str],
    path: Path,
    metadata: Mapping[str, str],
) -> None:
    any_size = torch.export.Dim("n")
    with torch.no_grad(), _quietly():
        module(*inputs)  # fills caches before tracing
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
        program.model.metadata_props.update(metadata)
        program.save(path, external_data=False)


def _session(path: Path) -> "_Session":
    from onnxruntime import InferenceSession

    content = path.read_bytes()  # ONNX Runtime opens files only by names in UTF-8
    return _Session(InferenceSession(content, providers=["CPUExecutionProvider"]))


class _Session:
    """An ONNX file in ONNX Runtime: takes tensors and returns arrays by name."""

    def __init__(self, session: object) -> None:
        self._session = session

    def __call__(self, *inputs: Tensor) -> Outputs:
        session = self._session
        named = zip(session.get_inputs(), inputs, strict=True)  # type: ignore[attr-defined]
        outputs = session.run(None, {entry.name: value.numpy() for entry, value in named})  # type: ignore[attr-defined]
        names = [entry.name for entry in session.get_outputs()]  # type: ignore[attr-defined]
        return dict(zip(names, map(np.asarray, outputs), strict=True))


@contextmanager
def _quietly() -> Iterator[None]:
    """Silences the exporter's warnings about its own internals."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
