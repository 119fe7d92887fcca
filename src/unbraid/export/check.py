"""Comparison of exported files with the model."""

import numpy as np
import torch

from unbraid.export.bundle import ExportBundle, Reader
from unbraid.export.modules import output_names
from unbraid.methods import ClassifiesCodes

TOLERANCE = 1e-5  # relative to the largest value, or absolute if all values are below 1
SIZES = (1, 5)  # batch sizes to check; the files were traced with a batch of 2


def check(bundle: ExportBundle, reader: Reader) -> float:
    """The largest difference between the files and the model; raises if it exceeds rounding errors."""
    largest = 0.0
    for size in SIZES:
        inputs = bundle.inputs(size, seed=size)
        codes, decoded = bundle.expected(inputs)
        outputs = reader.encode(inputs.observations, *inputs.condition)
        missing = set(output_names(bundle.model.method)) - set(outputs)
        if missing:
            raise ValueError(
                f"The exported encoder lacks {', '.join(sorted(missing))}. Internal error in Unbraid, please report it."
            )
        for name, values in outputs.items():
            largest = max(largest, _max_difference(bundle, name, _expected(bundle, name, codes), values))
        if decoded is not None:
            if reader.decode is None:
                raise ValueError(
                    "The exported model lacks the decoder. Internal error in Unbraid, please report it."
                )
            values = reader.decode(codes, *inputs.condition)
            largest = max(largest, _max_difference(bundle, "decoder", decoded.numpy(), values))
    return largest


def _expected(bundle: ExportBundle, name: str, codes: torch.Tensor) -> np.ndarray:
    """An output of the encoder, computed from the model's codes."""
    if name == "codes":
        return codes.numpy()
    if name == "logits" and isinstance(bundle.model.method, ClassifiesCodes):
        with torch.no_grad():
            return bundle.model.method.classify(codes).numpy()
    return bundle.model.strands.take(codes, name).numpy()


def _max_difference(bundle: ExportBundle, name: str, expected: np.ndarray, values: np.ndarray) -> float:
    if expected.shape != values.shape:
        raise ValueError(
            f"The exported {name} has shape {values.shape}, but the model of {bundle.run.folder} has {expected.shape}. "
            "Nothing was written. Internal error in Unbraid, please report it."
        )
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    difference = float(np.abs(expected.astype(np.float64) - values).max(initial=0.0)) / scale
    if not difference <= TOLERANCE:  # also for NaN
        raise ValueError(
            f"The exported {name} differs from the model of {bundle.run.folder} by {difference:.2g}; at most "
            f"{TOLERANCE:g} is allowed. Nothing was written. Try another format, or report the difference."
        )
    return difference
