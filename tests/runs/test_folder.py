"""Run folders, src/unbraid/runs/folder.py."""

import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from tests.run_files import PLAN, SETTINGS, score_entry
from unbraid.files import locked, write_tensors
from unbraid.runs import scores
from unbraid.runs.folder import FORMAT, Run, check_new_folder, create_folder, differences, identity
from unbraid.runs.weights import WEIGHTS


def with_steps(steps: int) -> dict:
    return SETTINGS | {"training": SETTINGS["training"] | {"steps": steps}}


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
    settings = SETTINGS | {"data": SETTINGS["data"] | {"color_set": ("red", "green")}}
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
    assert longer.steps == 20 and longer.finished and not longer.complete
    with pytest.raises(ValueError, match=r"which differs in training\.steps"):
        Run.create(tmp_path / "run", with_steps(5), resume=True)


def extended(folder: Path) -> Run:
    """A finished and scored run of 10 steps that is about to be replaced by one of 20."""
    run = Run.create(folder, SETTINGS, resume=False)
    run.finish({"w": torch.ones(2)}, step=10)
    write_tensors(folder / "best.safetensors", {"w": torch.ones(2)})
    run.add_scores([score_entry("mig", 0.1)])
    longer = Run.create(folder, with_steps(20), resume=True)
    write_tensors(longer.new_path("best.safetensors"), {"w": torch.zeros(2)})
    return longer


def contents(run: Run) -> tuple:
    """What a reader of the run sees: its steps, weights and scores."""
    weights = [run.weights(which)["w"].tolist() for which in ("last", "best")]
    return run.finished, run.steps, weights, [score["value"] for score in run.scores()]


OLD = (True, 10, [[1.0, 1.0], [1.0, 1.0]], [0.1])
NEW = (True, 20, [[0.0, 0.0], [0.0, 0.0]], [])


def test_a_finished_model_is_used_while_a_longer_training_runs(tmp_path: Path) -> None:
    longer = extended(tmp_path / "run")
    assert contents(Run(tmp_path / "run")) == OLD
    longer.finish({"w": torch.zeros(2)}, step=20)
    assert contents(Run(tmp_path / "run")) == NEW
    assert longer.complete and not list(longer.folder.glob(".next-*"))
    assert "moving" not in json.loads((longer.folder / "finished.json").read_text())


def test_killed_between_any_two_writes_the_model_and_its_scores_belong_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old model with its scores or the new one, and the end of the same training completes it."""
    replace, seen = os.replace, []
    for moment in range(9):
        folder, renames = tmp_path / str(moment), itertools.count()
        longer = extended(folder)

        def killed(
            source: Path, target: Path, renames: Iterator[int] = renames, moment: int = moment
        ) -> None:
            if next(renames) == moment:
                raise KeyboardInterrupt
            replace(source, target)

        monkeypatch.setattr(os, "replace", killed)
        try:
            longer.finish({"w": torch.zeros(2)}, step=20)
        except KeyboardInterrupt:
            seen.append(contents(Run(folder)))
        monkeypatch.setattr(os, "replace", replace)
        again = Run.prepare(folder, with_steps(20), resume=True)
        again.move_new_files()
        if not again.complete:
            again.finish({"w": torch.zeros(2)}, step=20)
        assert contents(Run(folder)) == NEW and Run(folder).has_moved_files
    assert OLD in seen and NEW in seen and all(content in (OLD, NEW) for content in seen)


def test_nothing_is_written_before_a_run_begins(tmp_path: Path) -> None:
    run = Run.prepare(tmp_path / "run", SETTINGS, resume=False)
    assert not (tmp_path / "run").exists()
    run.begin(plan=PLAN)
    assert Run(tmp_path / "run").plan == PLAN


def test_folders_without_a_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is not a run folder"):
        Run(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ValueError, match="not readable as JSON"):
        Run(tmp_path)
    for content, sentence in (
        ("[]", "the content must be an object, and is a list"),
        ("{}", "lacks format"),
        ('{"format": 1}', "lacks method"),
    ):
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(ValueError, match=sentence):
            Run(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"format": 999, **SETTINGS}))
    with pytest.raises(ValueError, match="run format 999"):
        Run(tmp_path)
    with pytest.raises(ValueError, match="is not a folder"):
        Run(tmp_path / "run.json")


def test_a_score_replaces_the_same_score(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    score = score_entry("mig", 0.1)
    run.add_scores([score])
    run.add_scores([score | {"value": 0.2}, score | {"seed": 1, "value": 0.3}])
    assert [entry["value"] for entry in run.scores()] == [0.2, 0.3]


def test_scores_that_are_added_at_once_are_all_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    score = score_entry("mig", 0.1)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda seed: Run(run.folder).add_scores([score | {"seed": seed}]), range(24)))
    assert {entry["seed"] for entry in run.scores()} == set(range(24))
    monkeypatch.setattr(scores, "PATIENCE", 0.05)
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
    with pytest.raises(
        ValueError, match="weights must be one of last, best or a step of --keep-weights; got 'model'"
    ):
        run.weights("model")


def test_best_weights(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    write_tensors(run.folder / "best.safetensors", {"w": torch.ones(2)})
    assert_close(run.weights("best"), {"w": torch.ones(2)})


def test_identity_depends_on_content_and_not_on_order() -> None:
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1}) != identity({"a": 1, "b": 3})


def test_differences_have_dotted_names() -> None:
    one, other = {"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"b": 2, "c": [1]}}
    assert differences(one, other) == {"a.b", "d"} and differences(one, one) == set()


@pytest.mark.parametrize("which", ["last", "best"])
def test_one_flipped_bit_in_the_weights_is_found(which: str, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    run.finish({"w": torch.ones(2)}, step=10)
    write_tensors(run.folder / "best.safetensors", {"w": torch.ones(2)})
    path = run.folder / WEIGHTS[which]
    content = bytearray(path.read_bytes())
    content[-1] ^= 64  # 1 becomes 1.8e19
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=rf"{path.name} is damaged: its hash is not the recorded one\. Restore"
    ):
        run.weights(which)


def test_whole_weights_of_another_run_are_refused(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    run.finish({"w": torch.ones(2)}, step=10)
    ending = json.loads((run.folder / "finished.json").read_text())
    assert ending["sha256"] == hashlib.sha256((run.folder / "model.safetensors").read_bytes()).hexdigest()
    write_tensors(run.folder / "model.safetensors", {"w": torch.zeros(2)})
    with pytest.raises(ValueError, match="is damaged"):
        run.weights()


def test_a_run_without_a_hash_of_its_weights_is_damaged(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    run.finish({"w": torch.ones(2)}, step=10)
    (run.folder / "finished.json").write_text('{"step": 10, "steps": 10}')
    with pytest.raises(ValueError, match=r"finished\.json lacks sha256\. .* continue the run with --resume"):
        run.weights()


def test_a_damaged_line_of_the_history_is_named(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    path = run.folder / "history.jsonl"
    path.write_text('{"step": 1, "seconds": 0.1}\n{"step": 2, "sec')
    assert [line["step"] for line in run.history()] == [1]
    path.write_text('{"step": 1, "seconds": 0.1}\n{"step": 2\n')
    with pytest.raises(ValueError, match=r"history\.jsonl, line 2 is not readable as JSON .*Delete the line"):
        run.history()


def test_a_folder_with_other_files_is_refused_and_hidden_ones_do_not_count(tmp_path: Path) -> None:
    check_new_folder(tmp_path / "new")
    (tmp_path / ".lock").write_text("")
    check_new_folder(tmp_path)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="is not empty and is not a run folder"):
        check_new_folder(tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        check_new_folder(tmp_path / "thesis.tex")


def test_a_folder_that_cannot_be_created_is_said_in_one_sentence(tmp_path: Path) -> None:
    create_folder(tmp_path / "deep" / "run")
    assert (tmp_path / "deep" / "run").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"cannot be created \(Not a directory\)\. Choose another folder"):
        create_folder(tmp_path / "file" / "run")
