"""Descriptions of exports, src/unbraid/export/description.py."""

import json

import pytest

from tests.export.conftest import packed
from unbraid.data import GENERATED
from unbraid.export.description import describe_export, license_of
from unbraid.runs.folder import Run


def test_descriptions_are_json(sprites: Run, tabular: Run, predicting: Run, flowing: Run) -> None:
    for run in (sprites, tabular, predicting, flowing):
        description = describe_export(packed(run), "onnx")
        assert json.loads(json.dumps(description)) == description


def test_a_run_on_images(sprites: Run) -> None:
    description = describe_export(packed(sprites), "onnx")
    assert description["method"]["name"] == "beta-vae" and description["strands"] == {"codes": [0, 1, 2]}
    assert description["data"]["license"] == GENERATED and "origin" not in description["data"]
    assert "uint8 images (n, 32, 32, 1)" in description["input"]["observations"]
    assert description["scores"][0]["value"] == 0.25 and "evidence" not in description["scores"][0]
    assert description["command"].startswith("unbraid train beta-vae --data sprites ")
    assert "--image-size 32" in description["command"] and "--latent-dim 3" in description["command"]


def test_folders_of_this_machine_are_left_out(tabular: Run) -> None:
    description = describe_export(packed(tabular), "onnx")
    assert str(tabular.folder.parent) not in json.dumps(description)
    assert "--data loans.csv" in description["command"]
    assert description["data"]["columns"]["names"] == ["age", "income"]
    assert description["input"]["condition"] == "int64 values (n, 1) of the known nuisances"
    assert description["outputs"] == ["codes", "z1", "z2", "logits"]


def test_a_run_from_python_has_no_command(sprites: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "plan", None)
    description = describe_export(packed(sprites), "onnx")
    assert description["command"] == "No command repeats this training: it was trained from Python."
    assert description["data"]["license"] == GENERATED  # the dataset states it, wherever it comes from


def test_the_license_is_that_of_the_dataset_and_of_another_background() -> None:
    def license(target: str, **background: str) -> str:
        data = {"license": target} | ({"background": background} if background else {})
        return license_of(data)

    assert license("CC BY 4.0") == license("CC BY 4.0", license="CC BY 4.0") == "CC BY 4.0"
    assert license("CC BY 4.0", license="MIT") == "CC BY 4.0; background: MIT"
    assert license("CC BY 4.0", license="") == "CC BY 4.0; background: unknown"
    assert license("") == license("", license="MIT") == ""
