"""Model cards, src/unbraid/export/card.py."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.export.conftest import packed
from unbraid.data import from_arrays
from unbraid.export.card import _ranges, card, front_matter, plain
from unbraid.export.description import describe_export
from unbraid.methods import BetaVAE
from unbraid.nn import build_networks
from unbraid.runs.folder import Run
from unbraid.training import train


def written(run: Run, format: str = "onnx", **changes: Any) -> str:
    bundle = packed(run)
    return card(bundle, describe_export(bundle, format) | changes, "snippet = 1", difference=2e-7)


def test_contents(sprites: Run) -> None:
    text = written(sprites)
    assert text.startswith("# beta-vae on sprites\n")
    for text_part in (
        "Higgins et al., 2017",
        "snippet = 1",
        "| `codes` | 3 | 0 to 2 | yes |",
        "MIT",
        "2e-07",
    ):
        assert text_part in text
    assert "| mig | 0.2500 | bins=20 | 100 | - | 0 | training data |" in text
    assert "unbraid train beta-vae --data sprites" in text and "torch 2" in text


def test_missing_decoders_scores_and_licenses(predicting: Run, tabular: Run) -> None:
    assert "has no decoder" in written(predicting) and "had no scores" in written(predicting)
    assert "license is unknown to Unbraid" in written(tabular)
    assert "Columns in this order: age, income." in written(tabular)


def test_the_license_of_ones_own_dataset(tmp_path: Path) -> None:
    images = np.random.default_rng(0).integers(0, 256, (12, 32, 32), dtype=np.uint8)
    dataset = from_arrays(images, name="mine", license="CC BY 4.0, *see* there")
    encoder, decoder = build_networks("mlp-small", dataset.shape, 3)
    run = train(
        BetaVAE(encoder, decoder),
        dataset,
        out=tmp_path / "run",
        steps=2,
        batch_size=4,
        device="cpu",
        quiet=True,
    )
    assert run.settings["data"]["license"] == "CC BY 4.0, *see* there"
    assert "Data: CC BY 4.0, \\*see\\* there." in written(run)
    assert '"other"' in front_matter(describe_export(packed(run), "huggingface"))


def test_strands_are_outputs_of_standalone_formats(tabular: Run) -> None:
    assert "`z1`: a strand" in written(tabular) and "`logits`" in written(tabular)
    assert "a strand of the code" not in written(tabular, "safetensors")


def test_names_cannot_be_markup(sprites: Run) -> None:
    bundle = packed(sprites)
    description = describe_export(bundle, "huggingface")
    data = description["data"] | {"name": "<script>alert(1)</script>", "factors": {"a|b\n# `c`": 2}}
    text = card(bundle, description | {"data": data}, "", difference=0.0)
    assert "<script" not in text and "a\\|b # \\`c\\`" in text
    heading = front_matter(description | {"data": data})
    assert heading.count("\n---\n") == 1  # a name cannot end it


def test_the_front_matter_is_yaml(sprites: Run, tabular: Run) -> None:
    yaml = pytest.importorskip("yaml")
    heading = front_matter(describe_export(packed(sprites), "huggingface"))
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
    assert plain("a_b _c_ <i>") == "a_b \\_c\\_ &lt;i&gt;"
