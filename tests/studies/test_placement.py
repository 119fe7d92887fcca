"""Where the runs of a study are evaluated, src/unbraid/studies/placement.py."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.studies.test_jobs import PLAN
from unbraid.recipes import Recipe
from unbraid.runs import Run
from unbraid.studies import jobs, placement, study, workers
from unbraid.studies.jobs import Job, JobContext, run_job
from unbraid.studies.placement import evaluation_device, evaluation_processes
from unbraid.studies.plan import replace


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    monkeypatch.setattr(placement, "choose_device", lambda name: torch.device(name.replace("auto", "cuda")))


def device(name: str = "auto", chosen: str | None = None, **options: Any) -> str | None:
    return evaluation_device(name, chosen, **({"trains": True, "population": 1, "workers": 1} | options))


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_evaluations_never_share_a_gpu_with_trainings_unless_told(name: str) -> None:
    assert device(name, workers=3) == "cpu"  # two of the three share a GPU
    assert device(name, workers=2, population=8) == "cpu"  # some train, the others evaluate
    assert device(name, "cuda", workers=3) == device(name, "cuda", workers=2, population=8) == "cuda"


@pytest.mark.usefixtures("two_gpus")
def test_evaluations_use_the_gpu_that_nobody_trains_on() -> None:
    assert device(workers=2) is None  # each worker has its own
    assert device() is None and device(population=16) is None  # one after the other
    assert device(workers=8, population=16, trains=False) is None  # all runs are trained
    assert device("cpu", workers=8) is None


@pytest.mark.usefixtures("two_gpus")
@pytest.mark.parametrize(("trained", "expected"), [(False, "cpu"), (True, None)])
def test_a_study_places_its_evaluations(
    trained: bool, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that would evaluate on the GPU of another's training gets the CPU."""
    contexts: list[JobContext] = []
    monkeypatch.setattr(
        sys.modules["unbraid.studies.study"], "choose_device", lambda name: torch.device("cpu")
    )
    monkeypatch.setattr(placement, "num_cores", lambda: 7)
    monkeypatch.setattr(
        workers,
        "run_on_workers",
        lambda jobs, context, **options: contexts.append(context) or iter(()),
    )
    if trained:
        run_job(Job((replace(PLAN, metrics=()),)), JobContext(tmp_path / "runs", None, "cpu", 1), quiet=True)
    study(Recipe("own", "", (PLAN,), {}), tmp_path, device="cuda", workers=3, quiet=True)
    assert [(one.eval_device, one.processes) for one in contexts] == [(expected, 2)]


@pytest.mark.parametrize(("count", "expected"), [(1, 16), (5, 3), (16, 1), (40, 1)])
def test_all_evaluations_together_have_a_process_per_core(
    count: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "num_cores", lambda: 16)
    assert evaluation_processes(count) == expected


def test_a_job_evaluates_with_the_processes_of_its_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(jobs, "evaluate", lambda *arguments, processes, **options: seen.append(processes))
    context = JobContext(tmp_path, None, "cpu", 1, processes=3)
    assert run_job(Job((PLAN,)), context, quiet=True) == []
    assert seen == [3] and Run(tmp_path / PLAN.folder_name).finished
