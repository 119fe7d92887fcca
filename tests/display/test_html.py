"""Displays for notebooks, src/unbraid/display/html.py."""

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import unbraid
from tests.run_files import SETTINGS, score_entry
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.display.html import curve, table
from unbraid.display.images import COLUMNS, SIDE
from unbraid.runs.folder import FORMAT, Run
from unbraid.strands import Strands
from unbraid.studies.results import StudyFolder
from unbraid.studies.study import StudyResult
from unbraid.studies.tables import Row

EVIL = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;"
LIMIT = 200_000


def noise(shape: tuple[int, ...], name: str = "noise", **known: Any) -> Dataset:
    pixels = np.random.default_rng(0).integers(0, 256, (32, *shape), dtype=np.uint8)
    return Dataset(torch.from_numpy(pixels), name=name, **known)


def known() -> dict[str, Any]:
    space = FactorSpace({EVIL: 2, "color": 4})
    combinations = torch.arange(32) % 8
    return {
        "factor_space": space,
        "combinations": combinations,
        "label": EVIL,
        "value_names": {EVIL: (EVIL, '"no')},
    }


def trained(folder: Path, **changes: Any) -> Run:
    training = {"steps": 100, "batch_size": 8, "seed": 3}
    settings = {"format": FORMAT, **SETTINGS, "training": training}
    (folder / "run.json").write_text(json.dumps(settings | changes))
    lines = [
        json.dumps({"step": step, "seconds": 0.1, "loss": 9.0 / (1 + step)}) for step in range(0, 60, 10)
    ]
    (folder / "history.jsonl").write_text("".join(line + "\n" for line in lines))
    return Run(folder)


SCORE = score_entry("mig", 0.25, protocol="bins=20", n=9, seed=1)


def image_in(text: str) -> Image.Image:
    (data,) = re.findall(r"data:image/png;base64,([^\"]+)", text)
    return Image.open(io.BytesIO(base64.b64decode(data)))


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 64, 64), (3, 200, 100), (5, 16, 16)])
def test_images_are_small(shape: tuple[int, ...]) -> None:
    text = noise(shape).with_background(noise(shape, "plain"))._repr_html_()
    assert len(text) < LIMIT  # noise compresses worst
    width, height = image_in(text).size
    assert width <= COLUMNS * (SIDE + 2) and height <= 2 * (SIDE + 2)
    assert "32 images of" in text and "background plain" in text


def test_rows_are_a_table() -> None:
    rows = torch.arange(60.0).reshape(5, 12)
    text = Dataset(rows, name="rows", max_value=1)._repr_html_()
    assert "<th>x0</th>" in text and "…" in text and "No known factors" in text and "<img" not in text


def test_a_rendered_dataset() -> None:
    text = unbraid.open_dataset("sprites", image_size=32)._repr_html_()
    assert "737,280 images of 1×32×32" in text and "<td>orientation</td><td>40</td>" in text


def test_names_of_factors_cannot_be_script() -> None:
    text = noise((1, 8, 8), EVIL, **known())._repr_html_()
    assert EVIL not in text and "<script" not in text and text.count(ESCAPED) >= 3
    assert "&#34;no" in text and "label" in text


def test_a_run(tmp_path: Path) -> None:
    run = trained(tmp_path)
    text = run._repr_html_()
    assert "beta-vae on sprites" in text and "unfinished" in text and "50 of 100" in text and "<svg" in text
    assert "<td>batch size</td><td>8</td>" in text
    assert "Not scored yet" in text and repr(run).startswith(
        "Run(beta-vae on sprites, seed 3, 100 steps, unfinished"
    )
    run.add_scores([SCORE])
    assert "<td>mig</td><td>0.2500</td><td>bins=20</td>" in run._repr_html_()


def test_names_in_a_run_cannot_be_script(tmp_path: Path) -> None:
    data = SETTINGS["data"] | {"name": EVIL, "shape": [2]}
    run = trained(tmp_path, data=data, method={"name": EVIL, "arguments": {}})
    run.add_scores([SCORE | {"metric": EVIL, "protocol": EVIL, "on": EVIL}])
    assert "<script" not in run._repr_html_() and run._repr_html_().count(ESCAPED) == 5


def test_a_study(tmp_path: Path) -> None:
    row = Row("vae", EVIL, {}, "mig", "bins=20", 0.25, 0.1, 3, None)
    failures = [{"plan": "unbraid train vae", "error": EVIL}]
    for shown in (
        StudyResult(tmp_path, [row], failures),
        StudyFolder(tmp_path, "mine", "", "quick", True, 1, [], failures, {}),
    ):
        text = shown._repr_html_()
        assert "<script" not in text and "unbraid train vae" in text and len(text) < LIMIT
    assert "0.25 ± 0.10" in StudyResult(tmp_path, [row], [])._repr_html_()


def test_strands_and_models() -> None:
    text = Strands({EVIL: range(20), "b": (0,)}, size=20)._repr_html_()
    assert "<script" not in text and "<td>20</td><td>0, 1, 2," in text and "default" in text
    method = unbraid.build_method(unbraid.methods.VAE, (1, 32, 32), n=4, latent_dim=3)
    model = unbraid.Model(method, (1, 32, 32))
    assert "vae of observations 1×32×32" in model._repr_html_() and repr(model).startswith("Model(vae of")


def test_empty_columns_are_left_out() -> None:
    assert table(("a", "b"), [(1, ""), (0, "")]) == (
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr><tr><td>0</td></tr></tbody></table>"
    )


def test_a_curve() -> None:
    assert 'points="2.0,2.0 120.0,24.0 238.0,46.0"' in curve([2.0, 1.0, 0.0], "falls")
    assert curve([1.0], "one") == "" and curve([float("nan"), 1.0], "one left") == ""
    assert len(curve([float(step % 7) for step in range(100_000)], "long")) < 10_000
