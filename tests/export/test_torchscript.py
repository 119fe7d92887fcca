"""TorchScript files, src/unbraid/export/torchscript.py."""

from pathlib import Path

import pytest
import torch
from numpy.testing import assert_allclose

from tests.export.conftest import packed
from unbraid.export import torchscript
from unbraid.runs import Run


@pytest.mark.parametrize("kind", ["pictured", "tabular", "predicting", "flowing"])
def test_batches_of_any_size(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    package = packed(request.getfixturevalue(kind))
    torchscript.write(package, tmp_path)
    reader = torchscript.read(package, tmp_path)
    inputs = package.inputs(7, seed=3)
    codes, decoded = package.expected(inputs)
    found = reader.encode(inputs.observations, *inputs.given)
    assert_allclose(found["codes"], codes, atol=1e-5, rtol=1e-5)
    assert (reader.decode is None) == (decoded is None) == (not (tmp_path / "decoder.pt").exists())
    if reader.decode is not None:
        assert_allclose(reader.decode(codes, *inputs.given), decoded, atol=1e-5, rtol=1e-5)


def test_an_encoder_needs_torch_alone(pictured: Run, tmp_path: Path) -> None:
    torchscript.write(packed(pictured), tmp_path)
    with torchscript._quietly():
        encoder = torch.jit.load(tmp_path / "encoder.pt")
    assert encoder(torch.zeros(1, 32, 32, 1, dtype=torch.uint8))["codes"].shape == (1, 3)
