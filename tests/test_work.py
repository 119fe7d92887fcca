"""One piece of a study's work, src/unbraid/work.py."""

from pathlib import Path

import pytest
import torch

from unbraid import model
from unbraid.plan import Plan, replace
from unbraid.work import Job, Place, do, do_and_log, done, jobs_of, undone

PLAN = Plan("beta-vae", "sprites", {"size": 32, "codes": 3, "steps": 2, "batch": 4}, ("kl",), {"samples": 20})


def place(folder: Path) -> Place:
    return Place(folder, None, "cpu", 1)


def test_a_job_is_a_run_however_often_it_is_scored() -> None:
    again = replace(PLAN, scoring={"samples": 30})
    other = replace(PLAN, seed=1)
    first, second = jobs_of([PLAN, other, again])
    assert first.plans == (PLAN, again) and second.plans == (other,)
    assert list(first.runs) == [PLAN.folder]


def test_a_population_gets_twice_as_many_as_it_trains_at_once() -> None:
    plans = [replace(PLAN, seed=seed) for seed in range(10)]
    assert [len(job.runs) for job in jobs_of(plans, population=2)] == [4, 4, 2]


def test_done_is_trained_and_scored_as_asked(tmp_path: Path) -> None:
    (job,) = jobs_of([PLAN])
    assert done(PLAN, tmp_path) is None
    assert do(job, place(tmp_path), quiet=True) == []
    run = done(PLAN, tmp_path)
    assert run is not None and run.finished
    assert done(replace(PLAN, metrics=("kl", "reconstruction")), tmp_path) is None
    assert done(replace(PLAN, scoring={"samples": 30}), tmp_path) is None
    (run.folder / "finished.json").unlink()
    assert done(PLAN, tmp_path) is None


def test_what_is_left_of_a_job(tmp_path: Path) -> None:
    other = replace(PLAN, seed=1)
    job = Job((PLAN, other))
    assert list(undone(job, tmp_path)) == [PLAN.folder, other.folder]
    do(Job((PLAN,)), place(tmp_path), quiet=True)
    assert list(undone(job, tmp_path)) == [other.folder]
    (tmp_path / PLAN.folder / "scores.json").unlink()
    assert list(undone(job, tmp_path)) == [PLAN.folder, other.folder]
    assert list(undone(job._replace(part="training"), tmp_path)) == [other.folder]


def test_scores_may_be_computed_on_another_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(model, "choose_device", lambda name: asked.append(name) or torch.device("cpu"))
    assert do(Job((PLAN,)), place(tmp_path)._replace(scoring="another"), quiet=True) == []
    assert asked == ["another"]


def test_what_is_printed_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = replace(PLAN, beta=-1.0)
    (failure,) = do_and_log(Job((PLAN, wrong)), place(tmp_path), tmp_path / "logs")
    log = (tmp_path / "logs" / f"{PLAN.folder}.txt").read_text()
    assert str(PLAN) in log and str(wrong) in log and "2/2 steps" in log and failure.traceback in log
    assert capsys.readouterr() == ("", "")


def test_a_failure_is_said_once_and_does_not_stop_the_others(tmp_path: Path) -> None:
    wrong = replace(PLAN, metrics=("mig", "kl"), scoring={"samples": 20, "nonsense": 1})
    again = replace(wrong, scoring={"samples": 20, "nonsense": 2})
    (job,) = jobs_of([wrong, again])
    (failure,) = do(job, place(tmp_path), quiet=True)
    assert failure.run == str(tmp_path / wrong.folder) and "nonsense" in failure.error
    assert failure.plan == str(wrong) and "Traceback" in failure.traceback
    assert do(jobs_of([PLAN])[0], place(tmp_path), quiet=True) == []
