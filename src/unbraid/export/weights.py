"""Safetensors: the weights, which `unbraid.load` reads again with the description beside them."""

import copy
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unbraid.export.modules import Decoder, Encoder
from unbraid.export.package import Outputs, Package, Reader
from unbraid.model import load
from unbraid.runs import write_tensors


def write(package: Package, folder: Path) -> None:
    """Writes model.safetensors; the description beside it is written with every format."""
    write_tensors(folder / "model.safetensors", package.model.method.state_dict())


def read(package: Package, folder: Path) -> Reader:
    """The model that `unbraid.load` makes of the files."""
    model = load(folder, device="cpu", **{name: copy.deepcopy(part) for name, part in package.own.items()})
    encoder = Encoder(model.method, model.shape, model.columns)
    decoder = None if package.decoder is None else Decoder(model.method, model.shape, model.columns)

    @torch.no_grad()
    def encode(*inputs: Tensor) -> Outputs:
        return {name: values.numpy() for name, values in encoder(*inputs).items()}

    @torch.no_grad()
    def decode(*inputs: Tensor) -> np.ndarray:
        assert decoder is not None
        return decoder(*inputs).numpy()

    return Reader(encode, None if decoder is None else decode)
