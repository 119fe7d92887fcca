"""What an export says of itself, src/unbraid/export/description.py."""

import json

from tests.export.conftest import packed
from unbraid.data.licences import HERE
from unbraid.export.description import describe_export
from unbraid.runs import Run


def test_all_of_it_is_json(pictured: Run, tabular: Run, predicting: Run, flowing: Run) -> None:
    for run in (pictured, tabular, predicting, flowing):
        described = describe_export(packed(run), "onnx")
        assert json.loads(json.dumps(described)) == described


def test_a_run_of_pictures(pictured: Run) -> None:
    described = describe_export(packed(pictured), "onnx")
    assert described["method"]["name"] == "beta-vae" and described["strands"] == {"codes": [0, 1, 2]}
    assert described["data"]["licence"] == HERE and "origin" not in described["data"]
    assert "uint8 images (n, 32, 32, 1)" in described["input"]["observations"]
    assert described["scores"][0]["value"] == 0.25 and "evidence" not in described["scores"][0]
    assert described["command"].startswith("unbraid train beta-vae --data sprites --size 32 --codes 3")


def test_folders_of_ones_own_are_left_out(tabular: Run) -> None:
    described = describe_export(packed(tabular), "onnx")
    assert str(tabular.folder.parent) not in json.dumps(described)
    assert "--data loans.csv" in described["command"]
    assert described["data"]["columns"]["names"] == ["age", "income"]
    assert described["input"]["given"] == "int64 values (n, 1) of the known nuisances"
    assert described["outputs"] == ["codes", "z1", "z2", "logits"]


def test_a_command_that_cannot_be_said(pictured: Run) -> None:
    package = packed(pictured)
    package.run.settings["data"] = package.run.settings["data"] | {"origin": None}
    described = describe_export(package, "onnx")
    assert "made in Python" in described["command"] and described["data"]["licence"] == ""
