"""Weights that `unbraid.load` reads again, src/unbraid/export/weights.py."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from torch.testing import assert_close

from tests.export.conftest import LOANS
from unbraid.export import export
from unbraid.runs.folder import Run
from unbraid.runs.model import load


@pytest.mark.parametrize("format", ["safetensors", "huggingface"])
def test_what_is_loaded_is_what_was_trained(format: str, sprites: Run, tmp_path: Path) -> None:
    export(sprites.folder, format, tmp_path / "out")
    original, again = load(sprites.folder, device="cpu"), load(tmp_path / "out", device="cpu")
    images = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 1), dtype=np.uint8)
    assert_close(again.encode(images), original.encode(images))
    assert again.run is None and again.strands == original.strands


def test_rows_are_standardized_within(tabular: Run, tmp_path: Path) -> None:
    export(tabular.folder, "safetensors", tmp_path / "out")
    original, again = load(tabular.folder, device="cpu"), load(tmp_path / "out", device="cpu")
    rows = np.array([[float(cell) for cell in line.split(",")[:2]] for line in LOANS.splitlines()[1:]])
    standardized = (rows - rows.mean(0)) / rows.std(0)
    assert_close(again.encode(rows), original.encode(rows))
    assert_close(again.encode(rows), original.without_columns().encode(standardized))
    assert_close(again.encode(rows[0]), again.encode(rows)[:1])  # a single one without n
    back = original.without_columns().reconstruct(standardized).numpy() * rows.std(0) + rows.mean(0)
    assert_allclose(again.reconstruct(rows), back, rtol=1e-6)
    with pytest.raises(ValueError, match="takes observations of shape"):
        again.encode(rows[:, :1])
