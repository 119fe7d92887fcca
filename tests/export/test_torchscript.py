"""TorchScript files, src/unbraid/export/torchscript.py."""

from pathlib import Path

import pytest
import torch
from numpy.testing import assert_allclose
from torch.testing import assert_close

from tests.export.conftest import packed
from tests.tiny import METHODS, SHAPE, make, roles
from unbraid.export import torchscript
from unbraid.export.modules import Encoder
from unbraid.methods.base import Method
from unbraid.runs.folder import Run


@pytest.mark.parametrize("kind", ["sprites", "tabular", "predicting", "flowing"])
def test_batches_of_any_size(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    bundle = packed(request.getfixturevalue(kind))
    torchscript.write(bundle, tmp_path)
    reader = torchscript.read(bundle, tmp_path)
    inputs = bundle.inputs(7, seed=3)
    codes, decoded = bundle.expected(inputs)
    outputs = reader.encode(inputs.observations, *inputs.condition)
    assert_allclose(outputs["codes"], codes, atol=1e-5, rtol=1e-5)
    assert (reader.decode is None) == (decoded is None) == (not (tmp_path / "decoder.pt").exists())
    if reader.decode is not None:
        assert_allclose(reader.decode(codes, *inputs.condition), decoded, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.name())
def test_every_method_can_be_recorded(cls: type[Method], tmp_path: Path) -> None:
    method = make(cls).float()
    pixels = torch.randint(0, 256, (5, *SHAPE[1:], SHAPE[0]), dtype=torch.uint8)
    condition = method.condition_from(*roles(5))
    encoder = Encoder(method, SHAPE)
    inputs = [(pixels[:size], *(() if condition is None else (condition[:size],))) for size in (2, 5)]
    torchscript._write(encoder, inputs[0], tmp_path / "encoder.pt")
    outputs = torchscript._load(tmp_path / "encoder.pt")(*inputs[1])
    for name, values in encoder(*inputs[1]).items():
        assert_close(outputs[name], values, atol=1e-4, rtol=1e-4)


def test_an_encoder_needs_torch_alone(sprites: Run, tmp_path: Path) -> None:
    torchscript.write(packed(sprites), tmp_path)
    with torchscript._quietly():
        encoder = torch.jit.load(tmp_path / "encoder.pt")
    assert encoder(torch.zeros(1, 32, 32, 1, dtype=torch.uint8))["codes"].shape == (1, 3)
