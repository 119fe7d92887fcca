"""The weights in a run folder, src/unbraid/runs/weights.py."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.run_files import SETTINGS, score_entry
from unbraid.runs.folder import Run


def with_kept(steps: int = 10, keep: tuple[int, ...] = (3, 6)) -> dict[str, Any]:
    return SETTINGS | {"training": SETTINGS["training"] | {"steps": steps, "keep_weights": keep}}


def of(value: float) -> dict[str, Tensor]:
    return {"w": torch.full((2,), value)}


def finished(folder: Path) -> Run:
    """A run of ten steps, each of whose weights is the step; it was killed after step 6 and began again at step 5."""
    run = Run.create(folder, with_kept(), resume=False)
    run.keep(of(3), 3)
    run.keep(of(-6), 6)
    run.keep(of(6), 6)
    run.finish(of(10), step=10)
    return run


def test_the_weights_of_earlier_steps_stay_beside_the_last(tmp_path: Path) -> None:
    run = finished(tmp_path / "run")
    for which, value in ((3, 3), (6, 6), (10, 10), ("last", 10)):
        assert_close(run.weights(which), of(value))
    hashes = [run.sha256(which) for which in (3, 6, 10)]
    assert len(set(hashes)) == 3 and run.sha256() == run.sha256(10) and run.sha256(4) == ""
    ending = json.loads((run.folder / "finished.json").read_text())
    assert [*ending["kept"].values(), ending["sha256"]] == hashes


def test_missing_and_damaged_weights_are_said_in_one_sentence(tmp_path: Path) -> None:
    run = finished(tmp_path / "run")
    with pytest.raises(
        FileNotFoundError, match=r"has no weights of step 4; it keeps those of 3, 6\. Train with"
    ):
        run.weights(4)
    path = run.folder / "model-6.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 64
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"model-6\.safetensors is damaged: its hash is not the recorded one"
    ):
        run.weights(6)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"model-6\.safetensors does not exist"):
        run.weights(6)
    plain = Run.create(tmp_path / "plain", SETTINGS, resume=False)
    plain.finish(of(1), step=10)
    with pytest.raises(FileNotFoundError, match=r"has no weights of step 3; it keeps none"):
        plain.weights(3)


def test_a_training_that_stopped_early_lists_what_it_reached(tmp_path: Path) -> None:
    """Weights that an attempt before the last one had written count no more."""
    run = Run.create(tmp_path / "run", with_kept(), resume=False)
    run.keep(of(3), 3)
    run.keep(of(6), 6)
    run.finish(of(5), step=5)
    assert_close(run.weights(3), of(3))
    assert_close(run.weights(5), of(5))
    with pytest.raises(FileNotFoundError, match="it keeps those of 3"):
        run.weights(6)


def test_a_longer_training_keeps_the_earlier_weights_and_adds_its_own(tmp_path: Path) -> None:
    """Also of a run that stopped early: until the longer training has ended, the old ones count."""
    run = Run.create(tmp_path / "run", with_kept(), resume=False)
    run.keep(of(3), 3)
    run.finish(of(5), step=5)
    longer = Run.create(tmp_path / "run", with_kept(20), resume=True)
    longer.keep(of(6), 6)
    assert Run(run.folder).sha256(6) == "" and Run(run.folder).steps == 10
    longer.finish(of(20), step=20)
    again = Run(run.folder)
    for which, value in ((3, 3), (6, 6), (20, 20)):
        assert_close(again.weights(which), of(value))
    assert not list(run.folder.glob(".next-*"))


def test_scores_of_earlier_weights_are_apart(tmp_path: Path) -> None:
    run = finished(tmp_path / "run")
    run.add_scores([score_entry("mig", 0.3, steps=3), score_entry("mig", 0.9)])
    run.add_scores([score_entry("mig", 0.4, steps=3), score_entry("mig", 0.6, steps=6)])
    found = {steps: [entry["value"] for entry in run.scores(steps)] for steps in (None, 3, 6, 10)}
    assert found == {None: [0.9], 3: [0.4], 6: [0.6], 10: [0.9]}
