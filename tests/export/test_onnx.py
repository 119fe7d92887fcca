"""ONNX files, src/unbraid/export/onnx.py."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from tests.export.conftest import packed
from unbraid.export import onnx
from unbraid.runs import Run, load, training_dataset

here = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in onnx.PACKAGES), reason="needs the extra onnx"
)


def onnxruntime_of(path: Path) -> Any:
    from onnxruntime import InferenceSession

    return InferenceSession(path)


def training_rows(run: Run) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The rows of the table in its units, their nuisances, and the codes of the method in training."""
    dataset, method = training_dataset(run), load(run.folder, device="cpu").method
    rows = dataset.indices()
    _, nuisances = dataset.labels_and_nuisances(dataset.factors(rows))
    assert nuisances is not None
    with torch.no_grad():
        return dataset.raw(rows), nuisances, method.encode(dataset.observe(rows), nuisances)


@here
def test_images_of_any_number(sprites: Run, tmp_path: Path) -> None:
    bundle = packed(sprites)
    onnx.write(bundle, tmp_path)
    reader = onnx.read(bundle, tmp_path)
    inputs = bundle.inputs(7, seed=3)
    codes, decoded = bundle.expected(inputs)
    outputs = reader.encode(inputs.observations)
    assert list(outputs) == ["codes"] and outputs["codes"].dtype == np.float32
    assert_allclose(outputs["codes"], codes, atol=1e-5, rtol=0)
    assert reader.decode is not None and decoded is not None
    assert_allclose(reader.decode(codes), decoded, atol=1e-5, rtol=0)


@here
def test_rows_with_what_they_are_given(tabular: Run, tmp_path: Path) -> None:
    bundle = packed(tabular)
    onnx.write(bundle, tmp_path)
    inputs = bundle.inputs(3, seed=3)
    codes, _ = bundle.expected(inputs)
    outputs = onnx.read(bundle, tmp_path).encode(inputs.observations, *inputs.condition)
    assert list(outputs) == ["codes", "z1", "z2", "logits"]
    assert_allclose(outputs["z2"], codes[:, 3:], atol=1e-5, rtol=0)
    rows, condition, trained = training_rows(tabular)
    again = onnx.read(bundle, tmp_path).encode(rows, condition)["codes"]
    assert_allclose(again, trained, atol=1e-5)
    assert_allclose(again, bundle.model.encode(rows, condition=condition), atol=1e-5)
    metadata = onnxruntime_of(tmp_path / "encoder.onnx").get_modelmeta().custom_metadata_map
    assert metadata["method"] == "vfae" and json.loads(metadata["strands"])["z2"] == [3, 4]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"onnx, onnxscript, onnxruntime\. .*pip install unbraid\[onnx\]"):
        onnx.require()
