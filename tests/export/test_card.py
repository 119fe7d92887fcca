"""Model cards, src/unbraid/export/card.py."""

import json
from typing import Any

import pytest

from tests.export.conftest import packed
from unbraid.export.card import _ranges, card, front_matter, plain
from unbraid.export.description import describe_export
from unbraid.runs import Run


def written(run: Run, to: str = "onnx", **changes: Any) -> str:
    package = packed(run)
    return card(package, describe_export(package, to) | changes, "snippet = 1", difference=2e-7)


def test_it_names_what_matters(pictured: Run) -> None:
    text = written(pictured)
    assert text.startswith("# beta-vae on sprites\n")
    for said in ("Higgins et al., 2017", "snippet = 1", "| `codes` | 3 | 0 to 2 | yes |", "MIT", "2e-07"):
        assert said in text
    assert "| mig | 0.2500 | bins=20 | 100 | - | 0 | the training data |" in text
    assert "unbraid train beta-vae --data sprites" in text and "torch 2" in text


def test_what_is_not_there_is_said(predicting: Run, tabular: Run) -> None:
    assert "learns no decoder" in written(predicting) and "not scored" in written(predicting)
    assert "does not know its licence" in written(tabular)
    assert "Columns, in this order: age, income." in written(tabular)


def test_strands_are_outputs_of_files_that_stand_alone(tabular: Run) -> None:
    assert "`z1`: a strand" in written(tabular) and "`logits`" in written(tabular)
    assert "a strand of it" not in written(tabular, "safetensors")


def test_names_cannot_be_markup(pictured: Run) -> None:
    package = packed(pictured)
    described = describe_export(package, "huggingface")
    data = described["data"] | {"name": "<script>alert(1)</script>", "factors": {"a|b\n# `c`": 2}}
    text = card(package, described | {"data": data}, "", difference=0.0)
    assert "<script" not in text and "a\\|b # \\`c\\`" in text
    heading = front_matter(described | {"data": data})
    assert heading.count("\n---\n") == 1  # nothing of a name ends it early


def test_the_front_matter_is_yaml(pictured: Run, tabular: Run) -> None:
    yaml = pytest.importorskip("yaml")
    heading = front_matter(describe_export(packed(pictured), "huggingface"))
    found = yaml.safe_load(heading.strip().strip("-"))
    assert found["library_name"] == "unbraid" and found["license"] == "mit"
    (model,) = found["model-index"]
    assert model["results"][0]["metrics"][0]["value"] == 0.25
    assert "bins=20, n=100, seed 0" in model["results"][0]["metrics"][0]["name"]
    other = yaml.safe_load(front_matter(describe_export(packed(tabular), "huggingface")).strip().strip("-"))
    assert other["license"] == "other" and "model-index" not in other
    assert json.dumps(other)


def test_ranges_and_plain_text() -> None:
    assert _ranges([0, 1, 2, 5, 7, 8]) == "0 to 2, 5, 7 to 8"
    assert _ranges(list(range(0, 60, 2))).endswith(", …")
    assert plain("a_b <i>") == "a\\_b &lt;i&gt;"
