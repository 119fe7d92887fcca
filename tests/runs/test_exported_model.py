"""Folders of exported models, src/unbraid/runs/exported_model.py."""

import json
from pathlib import Path

import pytest

from tests.run_files import SETTINGS
from unbraid.data.columns import ColumnScaler
from unbraid.runs.exported_model import FORMAT, ExportedModel, is_exported

WHOLE = {
    "format": FORMAT,
    "method": {"name": "vae", "arguments": {}},
    "plan": None,
    "data": SETTINGS["data"] | {"shape": [2]},
    "strands": {"codes": [0]},
    "default_strand": "codes",
    "training": SETTINGS["training"],
    "command": "",
    "scores": [],
    "versions": {},
    "sha256": {},
}


def written(folder: Path, content: object) -> Path:
    (folder / "config.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_a_complete_export_is_read(tmp_path: Path) -> None:
    columns = {"names": ["a", "b"], "mean": [0.0, 1.0], "std": [1.0, 2.0], "fill": []}
    exported = ExportedModel(written(tmp_path, WHOLE | {"data": WHOLE["data"] | {"columns": columns}}))
    assert exported.method_name == "vae"
    assert exported.columns == ColumnScaler(("a", "b"), (0.0, 1.0), (1.0, 2.0))
    assert ExportedModel(written(tmp_path, WHOLE)).columns is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "not readable as JSON"),
        ({"format": FORMAT}, "lacks method"),
        ([1], "must be an object, and is a list"),
        (WHOLE | {"format": 99}, "export format 99"),
    ],
)
def test_other_files_are_refused(content: object, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        ExportedModel(written(tmp_path, content))


def test_missing_weights(tmp_path: Path) -> None:
    exported = ExportedModel(written(tmp_path, WHOLE))
    with pytest.raises(FileNotFoundError, match=r"no model\.safetensors"):
        exported.weights()
    with pytest.raises(ValueError, match="one set of weights"):
        exported.weights("best")


def test_a_run_is_no_export(tmp_path: Path) -> None:
    assert not is_exported(tmp_path)
    assert is_exported(written(tmp_path, WHOLE))
    (tmp_path / "run.json").write_text("{}")
    assert not is_exported(tmp_path)
