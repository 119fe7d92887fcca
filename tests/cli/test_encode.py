"""`unbraid encode`, src/unbraid/cli/encode.py."""

import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from tests.commandline import CommandLine
from tests.export.conftest import packed
from unbraid.export import FORMATS, export
from unbraid.objectives import Normal
from unbraid.runs import Run, load, training_dataset
from unbraid.studies import Plan

SMALL = {"steps": 3, "batch_size": 4, "architecture": "mlp-small", "likelihood": Normal()}


def test_encode_writes_the_codes_of_images(
    unbraid: CommandLine, trained: Path, image_folder: Path, tmp_path: Path
) -> None:
    summary = unbraid("encode", trained, image_folder, "--out", tmp_path / "codes.npz", "--json").json
    assert summary["observations"] == 2 and summary["dimensions"] == 3
    with np.load(tmp_path / "codes.npz", allow_pickle=False) as codes:
        assert codes["codes"].shape == (2, 3) and list(codes["names"]) == ["a.png", "b.png"]
        assert list(codes["strand_codes"]) == [0, 1, 2]
    np.savez(tmp_path / "mine.npz", images=np.zeros((5, 32, 32), np.uint8))
    shown = unbraid("encode", trained, tmp_path / "mine.npz", "--out", tmp_path / "c.npz").out
    assert shown.startswith("5 observations encoded to 3 dimensions")


def measurements() -> tuple[list[str], list[list[str]]]:
    """A table of 12 rows in different units, with a class, a nuisance and two missing values."""
    rng = np.random.default_rng(0)
    numbers = rng.normal((5e6, -0.002, 40), (1e6, 0.0005, 9), (12, 3))
    rows = [[repr(float(value)) for value in row] for row in numbers]
    rows[4][0] = rows[7][2] = "NA"
    return ["income", "rate", "age", "paid", "sex"], [
        [*row, "yn"[index % 2], "fm"[index % 3 % 2]] for index, row in enumerate(rows)
    ]


def written(path: Path, names: list[str], rows: list[list[str]]) -> Path:
    path.write_text("".join(",".join(row) + "\n" for row in [names, *rows]))
    return path


@pytest.fixture(scope="module", params=["beta-vae", "vfae", "ivae"])
def tabular(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on a table: unconditional, conditioned on a nuisance, or on the label."""
    folder = tmp_path_factory.mktemp("measured")
    path = written(folder / "measured.csv", *measurements())
    sizes: dict[str, Any] = {"vfae": {"z1_dim": 3, "z2_dim": 2}}.get(request.param, {"latent_dim": 3})
    options = {"label": "paid", "nuisances": ("sex",), "impute": "mean", **SMALL, **sizes}
    return Plan(request.param, str(path), options).run(folder / "run", device="cpu", quiet=True)


def encoded(unbraid: CommandLine, run: Run, path: Path, out: Path) -> np.ndarray:
    assert unbraid("encode", run.folder, path, "--out", out).code == 0
    with np.load(out) as stored:
        return stored["codes"]


def training_codes(run: Run) -> tuple[np.ndarray, torch.Tensor | None]:
    """The codes of the dataset's rows as the training computes them, and their condition."""
    dataset, method = training_dataset(run), load(run.folder, device="cpu").method
    rows = dataset.indices()
    condition = method.condition_from(*dataset.labels_and_nuisances(dataset.factors(rows)))
    with torch.no_grad():
        return method.encode(dataset.observe(rows), condition).numpy(), condition


def test_rows_have_one_code_wherever_they_are_encoded(
    unbraid: CommandLine, tabular: Run, tmp_path: Path
) -> None:
    """By the command, `load`, every export and the method in training; a missing value becomes the training's mean."""
    names, cells = measurements()
    expected, condition = training_codes(tabular)
    numbers = np.array([[float("nan" if cell == "NA" else cell) for cell in row[:3]] for row in cells])
    table = written(tmp_path / "rows.csv", names, cells)
    found = {
        "encode": encoded(unbraid, tabular, table, tmp_path / "codes.npz"),
        "load": load(tabular.folder, device="cpu").encode(numbers, condition=condition).numpy(),
    }
    inputs = [torch.from_numpy(numbers), *([] if condition is None else [condition])]
    for format in (
        "torchscript",
        "safetensors",
    ):  # tests/export/test_onnx.py compares ONNX, which takes seconds
        export(tabular.folder, format, tmp_path / format)
        found[format] = FORMATS[format].read(packed(tabular), tmp_path / format).encode(*inputs)["codes"]
    weights = load(tmp_path / "safetensors", device="cpu")
    found["load, exported"] = weights.encode(numbers, condition=condition).numpy()
    exported = unbraid("encode", tmp_path / "safetensors", table, "--out", tmp_path / "again.npz")
    assert exported.code == 0
    with np.load(tmp_path / "again.npz") as stored:
        found["encode, exported"] = stored["codes"]
    for codes in found.values():
        assert_allclose(codes, expected, atol=1e-5)


def test_columns_may_come_in_another_order_and_others_are_named(
    unbraid: CommandLine, tabular: Run, tmp_path: Path
) -> None:
    names, cells = measurements()
    order, rows = [4, 2, 0, 3, 1], [[*row, "note"] for row in cells]
    path = written(
        tmp_path / "rows.csv",
        [*(names[column] for column in order), "remark"],
        [[*(row[column] for column in order), row[5]] for row in rows],
    )
    answer = unbraid("encode", tabular.folder, path, "--out", tmp_path / "codes.npz")
    assert answer.code == 0 and "remark" in answer.err and "income" not in answer.err
    with np.load(tmp_path / "codes.npz") as stored:
        assert_allclose(stored["codes"], training_codes(tabular)[0], atol=1e-5)


def test_a_missing_column_is_named(unbraid: CommandLine, tabular: Run, tmp_path: Path) -> None:
    names, cells = measurements()
    path = written(tmp_path / "rows.csv", names[1:], [row[1:] for row in cells])
    sentence = unbraid("encode", tabular.folder, path, "--out", tmp_path / "codes.npz").sentence
    assert "lacks the column 'income'" in sentence and not (tmp_path / "codes.npz").exists()


def test_a_run_without_its_columns_is_refused(unbraid: CommandLine, tabular: Run, tmp_path: Path) -> None:
    """Such as one of an earlier version: its rows could be encoded in the wrong units."""
    folder = shutil.copytree(tabular.folder, tmp_path / "run")
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text.replace('"columns"', '"lost"'))
    path = written(tmp_path / "rows.csv", *measurements())
    sentence = unbraid("encode", folder, path, "--out", tmp_path / "codes.npz").sentence
    assert "does not record the columns of its table" in sentence


def test_the_ending_chooses_the_format(
    unbraid: CommandLine, trained: Path, image_folder: Path, tmp_path: Path
) -> None:
    paths = [image_folder / "b.png", image_folder / "a.png", image_folder / "b.png"]
    for name in ("new/codes.npz", "codes.npy", "codes.CSV"):
        assert unbraid("encode", trained, *paths, "--out", tmp_path / name).code == 0
    with np.load(tmp_path / "new" / "codes.npz") as stored:
        codes = stored["codes"]
    assert np.array_equal(np.load(tmp_path / "codes.npy"), codes)
    with open(tmp_path / "codes.CSV", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["name", "dim_0", "dim_1", "dim_2"]
    assert [row[0] for row in rows] == ["b.png", "a.png", "b.png"]
    assert np.array_equal(np.array([row[1:] for row in rows], np.float32), codes)
