"""Safetensors: the weights, which `unbraid.load` reads together with config.json."""

import copy
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unbraid.export.bundle import ExportBundle, Outputs, Reader
from unbraid.export.modules import Decoder, Encoder
from unbraid.files import write_tensors
from unbraid.runs import load


def write(bundle: ExportBundle, folder: Path) -> None:
    """Writes model.safetensors; config.json is written for every format."""
    write_tensors(folder / "model.safetensors", bundle.model.method.state_dict())


def read(bundle: ExportBundle, folder: Path) -> Reader:
    """Loads the files with `unbraid.load`."""
    networks = {name: copy.deepcopy(network) for name, network in bundle.custom_networks.items()}
    model = load(folder, device="cpu", **networks)
    encoder = Encoder(model.method, model.shape, model.columns)
    decoder = None if bundle.decoder is None else Decoder(model.method, model.shape, model.columns)

    @torch.no_grad()
    def encode(*inputs: Tensor) -> Outputs:
        return {name: values.numpy() for name, values in encoder(*inputs).items()}

    @torch.no_grad()
    def decode(*inputs: Tensor) -> np.ndarray:
        assert decoder is not None
        return decoder(*inputs).numpy()

    return Reader(encode, None if decoder is None else decode)
