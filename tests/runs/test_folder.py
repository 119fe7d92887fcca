"""Run folders, src/unbraid/runs/folder.py."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from unbraid.files import locked, read_tensors, write_tensors
from unbraid.runs import folder
from unbraid.runs.folder import FORMAT, History, Run, differences, identity, versions

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
    with pytest.raises(ValueError, match="already contains an unfinished run"):
        Run.create(tmp_path / "run", SETTINGS, resume=False)
    other = SETTINGS | {"method": {"name": "beta-vae", "arguments": {"beta": 1.0}}}
    with pytest.raises(ValueError, match=r"contains another run, which differs in method\.arguments\.beta"):
        Run.create(tmp_path / "run", other, resume=True)


def test_settings_with_tuples_equal_the_written_ones(tmp_path: Path) -> None:
    """JSON has no tuples, and a run must resume with the settings that it was created with."""
    settings = SETTINGS | {"data": {"name": "digits", "color_set": ("red", "green")}}
    Run.create(tmp_path / "run", settings, resume=False)
    assert Run.create(tmp_path / "run", settings, resume=True).settings["data"]["color_set"] == [
        "red",
        "green",
    ]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="is not empty and is not a run folder"):
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
    with pytest.raises(ValueError, match=r"which differs in training\.steps"):
        Run.create(tmp_path / "run", with_steps(5), resume=True)


def test_old_weights_and_scores_stay_until_new_weights_replace_them(tmp_path: Path) -> None:
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


def test_folders_without_a_run_are_refused(tmp_path: Path) -> None:
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


def test_a_score_replaces_the_same_score(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    score = {"metric": "mig", "protocol": "", "seed": 0, "value": 0.1}
    run.add_scores([score])
    run.add_scores([score | {"value": 0.2}, score | {"seed": 1, "value": 0.3}])
    assert [entry["value"] for entry in run.scores()] == [0.2, 0.3]


def test_scores_that_are_added_at_once_are_all_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    score = {"metric": "mig", "protocol": "", "value": 0.1}
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda seed: Run(run.folder).add_scores([score | {"seed": seed}]), range(24)))
    assert {entry["seed"] for entry in run.scores()} == set(range(24))
    monkeypatch.setattr(folder, "SCORES_PATIENCE", 0.05)
    with (
        locked(run.folder / ".scores.lock", message=""),
        pytest.raises(ValueError, match="Another process is writing scores into"),
    ):
        run.add_scores([score | {"seed": 24}])


def test_missing_weights(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    with pytest.raises(FileNotFoundError, match=r"the run is unfinished\. Continue it with --resume"):
        run.weights()
    with pytest.raises(FileNotFoundError, match="trained without a validation split"):
        run.weights("best")
    with pytest.raises(ValueError, match="weights must be one of last, best; got 'model'"):
        run.weights("model")


def test_best_weights(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    write_tensors(run.folder / "best.safetensors", {"w": torch.ones(2)})
    assert_close(run.weights("best"), {"w": torch.ones(2)})


@pytest.fixture
def new_run(tmp_path: Path) -> Run:
    settings = {"method": {"name": "vae"}, "data": {"name": "sprites"}, "training": {"steps": 10, "seed": 3}}
    return Run.create(tmp_path / "run", settings, resume=False)


def test_later_and_incomplete_lines_are_dropped(new_run: Run) -> None:
    history = History(new_run, 0)
    for step in (1, 2, 3):
        history.add(step, {"loss": float(step)})
    with open(new_run.folder / "history.jsonl", "a") as file:
        file.write('{"step": 4, "lo')
    assert [line["step"] for line in new_run.history()] == [1, 2, 3]
    History(new_run, 2).add(3, {"loss": 30.0})
    assert [(line["step"], line["loss"]) for line in new_run.history()] == [(1, 1.0), (2, 2.0), (3, 30.0)]


def test_the_callback_gets_each_line(new_run: Run) -> None:
    lines = []
    history = History(new_run, 0, lines.append)
    for step in (1, 2):
        history.add(step, {"loss": float(step)})
    assert lines == new_run.history()


def test_seconds_continue_from_the_last_line(new_run: Run) -> None:
    (new_run.folder / "history.jsonl").write_text('{"step": 1, "seconds": 100.0, "loss": 1.0}\n')
    History(new_run, 1).add(2, {"loss": 0.5})
    assert 100 <= new_run.history()[-1]["seconds"] < 101


def test_identity_depends_on_content_and_not_on_order() -> None:
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1}) != identity({"a": 1, "b": 3})


def test_differences_have_dotted_names() -> None:
    one, other = {"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"b": 2, "c": [1]}}
    assert differences(one, other) == {"a.b", "d"} and differences(one, one) == set()


def test_versions() -> None:
    found = versions("cpu")
    assert found["torch"] == torch.__version__ and found["device"].startswith("cpu (")
    assert {"unbraid", "python", "numpy", "platform"} <= found.keys()
