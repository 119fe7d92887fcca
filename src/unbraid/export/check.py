"""An exported file against the model it came from."""

import numpy as np
import torch

from unbraid.export.modules import output_names
from unbraid.export.package import Package, Reader

CLOSE = 1e-5  # absolute, or of the largest number compared
SIZES = (1, 5)  # batches that the file is tried on; it was made with one of 2


def check(package: Package, reader: Reader) -> float:
    """The largest difference between the file and the model; raises where they differ by more than rounding."""
    worst = 0.0
    for size in SIZES:
        inputs = package.inputs(size, seed=size)
        codes, decoded = package.expected(inputs)
        found = reader.encode(inputs.observations, *inputs.given)
        missing = set(output_names(package.model.method)) - set(found)
        if missing:
            raise ValueError(f"The exported encoder lacks {', '.join(sorted(missing))}: please report it.")
        for name, values in found.items():
            worst = max(worst, _apart(package, name, _named(package, name, codes), values))
        if decoded is not None:
            if reader.decode is None:
                raise ValueError("The exported model lacks the decoder: please report it.")
            made = reader.decode(codes, *inputs.given)
            worst = max(worst, _apart(package, "decoder", decoded.numpy(), made))
    return worst


def _named(package: Package, name: str, codes: torch.Tensor) -> np.ndarray:
    """What an output of the encoder should be, from the model's own codes."""
    if name == "codes":
        return codes.numpy()
    if name == "logits":
        with torch.no_grad():
            return package.model.method.classify(codes).numpy()  # type: ignore[operator]
    return package.model.strands.take(codes, name).numpy()


def _apart(package: Package, name: str, expected: np.ndarray, found: np.ndarray) -> float:
    if expected.shape != found.shape:
        raise ValueError(
            f"The exported {name} has the shape {found.shape} where the model of {package.run.folder} has "
            f"{expected.shape}: nothing was written, please report it."
        )
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    apart = float(np.abs(expected.astype(np.float64) - found).max(initial=0.0)) / scale
    if not apart <= CLOSE:  # also where it is not a number
        raise ValueError(
            f"The exported {name} differs from the model of {package.run.folder} by {apart:.2g}, and at most {CLOSE:g} "
            "is rounding: nothing was written. Try another format, or please report it."
        )
    return apart
