"""Run folders, src/unbraid/runs.py."""

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from unbraid.runs import FORMAT, History, Run, identity, read_tensors, write_atomically, write_tensors

SETTINGS = {
    "method": {"name": "beta-vae", "arguments": {"beta": 4.0}},
    "data": {"name": "sprites"},
    "training": {"steps": 10, "seed": 3},
}


def with_steps(steps: int) -> dict:
    return SETTINGS | {"training": {"steps": steps, "seed": 3}}


def test_a_new_folder_holds_its_settings(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "deep" / "run", SETTINGS, resume=False)
    assert json.loads((run.folder / "run.json").read_text()) == {"format": FORMAT, **SETTINGS}
    assert (run.method_name, run.data_name, run.steps, run.seed) == ("beta-vae", "sprites", 10, 3)
    assert not run.finished and run.history() == [] and run.scores() == []


def test_a_folder_with_a_run_is_not_overwritten(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", SETTINGS, resume=False)
    with pytest.raises(ValueError, match="already holds an unfinished run"):
        Run.create(tmp_path / "run", SETTINGS, resume=False)
    other = SETTINGS | {"method": {"name": "beta-vae", "arguments": {"beta": 1.0}}}
    with pytest.raises(ValueError, match=r"holds another run: it differs in method\.arguments\.beta"):
        Run.create(tmp_path / "run", other, resume=True)


def test_settings_with_tuples_are_those_that_were_written(tmp_path: Path) -> None:
    """JSON has lists only, and a run must be able to go on with the settings it was made with."""
    settings = SETTINGS | {"data": {"name": "digits", "colours": ("red", "green")}}
    Run.create(tmp_path / "run", settings, resume=False)
    assert Run.create(tmp_path / "run", settings, resume=True).settings["data"]["colours"] == ["red", "green"]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="holds other files and no run"):
        Run.create(tmp_path, SETTINGS, resume=False)
    with pytest.raises(ValueError, match="is a file"):
        Run.create(tmp_path / "thesis.tex", SETTINGS, resume=False)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_resuming_may_ask_for_more_steps_but_not_fewer(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    run.finish({"w": torch.ones(2)}, step=10)
    assert run.finished
    longer = Run.create(tmp_path / "run", with_steps(20), resume=True)
    assert longer.steps == 20 and not longer.finished
    with pytest.raises(ValueError, match=r"differs in training\.steps"):
        Run.create(tmp_path / "run", with_steps(5), resume=True)


def test_old_weights_stay_until_new_ones_take_their_place_and_old_scores_go_then(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    run.finish({"w": torch.ones(2)}, step=10)
    run.add_scores([{"metric": "mig", "protocol": "", "seed": 0, "value": 0.1}])
    longer = Run.create(tmp_path / "run", with_steps(20), resume=True)
    assert_close(read_tensors(run.folder / "model.safetensors"), {"w": torch.ones(2)})
    assert longer.scores() != []
    with pytest.raises(FileNotFoundError, match="the run is unfinished"):
        longer.weights()
    longer.finish({"w": torch.zeros(2)}, step=20)
    assert longer.finished and longer.scores() == []
    assert_close(longer.weights(), {"w": torch.zeros(2)})


def test_what_is_not_a_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is not a run folder"):
        Run(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ValueError, match="not readable as JSON"):
        Run(tmp_path)
    for content in ("[]", '{"format": 1}', "3"):
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(ValueError, match="it lacks one of method, data, training"):
            Run(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"format": 999, **SETTINGS}))
    with pytest.raises(ValueError, match="run format 999"):
        Run(tmp_path)
    with pytest.raises(ValueError, match="is not a folder"):
        Run(tmp_path / "run.json")


def test_tensors_come_back_and_the_same_tensors_give_the_same_bytes(tmp_path: Path) -> None:
    tensors = {"b": torch.randn(3, 2).T, "a": torch.arange(4)}
    for name in ("one", "two"):
        write_tensors(tmp_path / name, tensors)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert_close(read_tensors(tmp_path / "one"), tensors)


def test_damaged_tensors_are_said(tmp_path: Path) -> None:
    write_tensors(tmp_path / "w.safetensors", {"a": torch.ones(100)})
    whole = (tmp_path / "w.safetensors").read_bytes()
    (tmp_path / "w.safetensors").write_bytes(whole[:50])
    with pytest.raises(ValueError, match="not a whole safetensors file"):
        read_tensors(tmp_path / "w.safetensors")


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """A real failing write: the process may not write files above 1,000 bytes."""
    target = tmp_path / "checkpoint.safetensors"
    target.write_bytes(b"the last good checkpoint")
    script = (
        "from pathlib import Path; from unbraid.runs import write_atomically\n"
        f"write_atomically(Path({str(target)!r}), b'x' * 100_000)"
    )

    def small_files_only() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))

    done = subprocess.run(
        [sys.executable, "-B", "-c", script], preexec_fn=small_files_only, capture_output=True, text=True
    )
    assert done.returncode != 0 and "could not be written (File too large)" in done.stderr
    assert target.read_bytes() == b"the last good checkpoint"
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]


def test_a_write_takes_the_place_of_the_old_content(tmp_path: Path) -> None:
    write_atomically(tmp_path / "f", b"old")
    write_atomically(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"new"


def test_identity_depends_on_content_not_on_order() -> None:
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1}) != identity({"a": 1, "b": 3})


def test_history_drops_what_came_after_the_checkpoint_and_torn_lines(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    history = History(run, 0)
    for step in (1, 2, 3):
        history.add(step, {"loss": float(step)})
    with open(run.folder / "history.jsonl", "a") as file:
        file.write('{"step": 4, "lo')
    assert [line["step"] for line in run.history()] == [1, 2, 3]
    History(run, 2).add(3, {"loss": 30.0})
    assert [(line["step"], line["loss"]) for line in run.history()] == [(1, 1.0), (2, 2.0), (3, 30.0)]


def test_others_are_told_each_line_of_history(tmp_path: Path) -> None:
    run, told = Run.create(tmp_path / "run", SETTINGS, resume=False), []
    history = History(run, 0, told.append)
    for step in (1, 2):
        history.add(step, {"loss": float(step)})
    assert told == run.history()


def test_a_score_takes_the_place_of_the_same_score(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    score = {"metric": "mig", "protocol": "", "seed": 0, "value": 0.1}
    run.add_scores([score])
    run.add_scores([score | {"value": 0.2}, score | {"seed": 1, "value": 0.3}])
    assert [entry["value"] for entry in run.scores()] == [0.2, 0.3]


def test_weights_that_are_not_there_are_said(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    with pytest.raises(FileNotFoundError, match="the run is unfinished; go on with --resume"):
        run.weights()
    with pytest.raises(FileNotFoundError, match="train with a validation split"):
        run.weights("best")
