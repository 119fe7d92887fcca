"""What codes have to do with factors, src/unbraid/explore/matrices.py."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.run_files import score_entry
from unbraid.explore.examples import Examples, Factor
from unbraid.explore.matrices import matrix_of
from unbraid.files import write_json
from unbraid.runs import Run
from unbraid.strands import Strands

STRANDS, ORDER = Strands.from_sizes(codes=4), (0, 1, 2, 3)


def examples(size: int = 400) -> Examples:
    """The first code is the factor itself, the others are noise."""
    generator = np.random.default_rng(0)
    values = generator.integers(4, size=size)
    codes = generator.standard_normal((size, 4))
    codes[:, 0] = values
    factor = Factor("shape", ("a", "b", "c", "d"), values)
    return Examples(torch.zeros(size, 1, 2, 2), torch.tensor(codes), None, (factor,), "shape")


def test_importance_is_what_dci_found(run: Run) -> None:
    found = matrix_of(run, STRANDS, examples(), (), ORDER)
    assert found is not None and found.heading == "Importance"
    assert found.factors == ("shape", "scale", "orientation", "pos_x", "pos_y")
    assert found.rows[2] == ("dimension 2", (2,))
    evidence = next(score["evidence"] for score in run.scores() if score["metric"] == "dci")
    assert np.allclose(found.values, evidence["importances"])
    assert np.allclose(found.values.sum(0), 1)


def test_information_is_a_share_of_all_there_is_to_know(folder: Path) -> None:
    table = np.zeros((4, 5))
    table[1, 0] = np.log(3)  # all of the shape
    evidence = {"information": table.tolist()}
    score = score_entry("mig", 0.5, evidence=evidence)
    write_json(folder / "scores.json", [score])
    found = matrix_of(Run(folder), STRANDS, examples(), (), ORDER)
    assert found is not None and found.heading == "Mutual information"
    assert found.values[1, 0] == pytest.approx(1) and found.values.sum() == pytest.approx(1)


def test_without_scores_the_examples_tell(folder: Path) -> None:
    (folder / "scores.json").unlink()
    found = matrix_of(Run(folder), STRANDS, examples(), (), ORDER)
    assert found is not None and found.factors == ("shape",)
    assert found.values[0, 0] > 0.95 and found.values[1:].max() < 0.05


def test_too_few_examples_tell_nothing(folder: Path) -> None:
    (folder / "scores.json").unlink()
    assert matrix_of(Run(folder), STRANDS, examples(size=10), (), ORDER) is None


def test_blocks_of_codes_have_rows_of_their_own(folder: Path) -> None:
    strands = Strands({"codes": range(4), "z0": (0, 1), "z1": (2, 3)}, size=4)
    evidence = {"importances": [[0.2] * 5, [0.8] * 5]}
    score = score_entry("dci", 0.5, evidence=evidence)
    write_json(folder / "scores.json", [score])
    found = matrix_of(Run(folder), strands, examples(), ("z0", "z1"), ORDER)
    assert found is not None and found.rows == (("z0", (0, 1)), ("z1", (2, 3)))
