"""Jobs of a study, src/unbraid/studies/jobs.py."""

from pathlib import Path

import pytest
import torch

from unbraid.runs import model
from unbraid.studies.jobs import (
    Job,
    JobContext,
    finished_run,
    make_jobs,
    pending_plans,
    run_job,
    run_job_logged,
)
from unbraid.studies.plan import Plan, replace

PLAN = Plan(
    "beta-vae",
    "sprites",
    {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small", "steps": 2, "batch_size": 4},
    ("kl",),
    {"num_samples": 20},
)


def context_in(folder: Path) -> JobContext:
    return JobContext(folder, None, "cpu", 1)


def test_a_job_is_one_run_with_all_its_evaluations() -> None:
    again = replace(PLAN, evaluation={"num_samples": 30})
    other = replace(PLAN, seed=1)
    first, second = make_jobs([PLAN, other, again])
    assert first.plans == (PLAN, again) and second.plans == (other,)
    assert list(first.runs) == [PLAN.folder_name]


def test_a_population_gets_twice_as_many_as_it_trains_at_once() -> None:
    plans = [replace(PLAN, seed=seed) for seed in range(10)]
    assert [len(job.runs) for job in make_jobs(plans, population=2)] == [4, 4, 2]


def test_a_finished_run_is_trained_and_has_the_scores_of_the_plan(tmp_path: Path) -> None:
    (job,) = make_jobs([PLAN])
    assert finished_run(PLAN, tmp_path) is None
    assert run_job(job, context_in(tmp_path), quiet=True) == []
    run = finished_run(PLAN, tmp_path)
    assert run is not None and run.finished
    assert finished_run(replace(PLAN, metrics=("kl", "reconstruction")), tmp_path) is None
    assert finished_run(replace(PLAN, evaluation={"num_samples": 30}), tmp_path) is None
    (run.folder / "finished.json").unlink()
    assert finished_run(PLAN, tmp_path) is None


def test_pending_plans_of_a_job(tmp_path: Path) -> None:
    other = replace(PLAN, seed=1)
    job = Job((PLAN, other))
    assert list(pending_plans(job, tmp_path)) == [PLAN.folder_name, other.folder_name]
    run_job(Job((PLAN,)), context_in(tmp_path), quiet=True)
    assert list(pending_plans(job, tmp_path)) == [other.folder_name]
    (tmp_path / PLAN.folder_name / "scores.json").unlink()
    assert list(pending_plans(job, tmp_path)) == [PLAN.folder_name, other.folder_name]
    assert list(pending_plans(job._replace(stage="training"), tmp_path)) == [other.folder_name]


def test_scores_may_be_computed_on_another_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devices: list[str] = []
    monkeypatch.setattr(model, "choose_device", lambda name: devices.append(name) or torch.device("cpu"))
    assert run_job(Job((PLAN,)), context_in(tmp_path)._replace(eval_device="another"), quiet=True) == []
    assert devices == ["another"]


def test_output_goes_to_a_log_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = replace(PLAN, beta=-1.0)
    (failure,) = run_job_logged(Job((PLAN, wrong)), context_in(tmp_path), tmp_path / "logs")
    log = (tmp_path / "logs" / f"{PLAN.folder_name}.txt").read_text()
    assert str(PLAN) in log and str(wrong) in log and "2/2 steps" in log and failure.traceback in log
    assert capsys.readouterr() == ("", "")


def test_a_failure_is_reported_once_and_does_not_stop_the_others(tmp_path: Path) -> None:
    wrong = replace(PLAN, metrics=("mig", "kl"), evaluation={"num_samples": 20, "nonsense": 1})
    again = replace(wrong, evaluation={"num_samples": 20, "nonsense": 2})
    (job,) = make_jobs([wrong, again])
    (failure,) = run_job(job, context_in(tmp_path), quiet=True)
    assert failure.run == str(tmp_path / wrong.folder_name) and "nonsense" in failure.error
    assert failure.plan == str(wrong) and "Traceback" in failure.traceback
    assert run_job(make_jobs([PLAN])[0], context_in(tmp_path), quiet=True) == []
