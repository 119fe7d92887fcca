"""Worker processes of a study, src/unbraid/studies/workers.py."""

import json
import multiprocessing
import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.forkserver import forkserver
from tests.small_study import table
from unbraid.recipes import Recipe
from unbraid.studies import workers
from unbraid.studies.jobs import JobContext, JobResult, environment, finished_run, make_jobs
from unbraid.studies.locks import exclusive_lock
from unbraid.studies.plan import Plan, replace
from unbraid.studies.study import study
from unbraid.studies.workers import _serve, run_on_workers

OPTIONS = {"observations": 60, "architecture": "mlp", "feature_dim": 8, "steps": 20, "batch_size": 8}
PLAN = Plan("cnn", "credit", OPTIONS, ("group_accuracy",), {"num_samples": 0})
pytestmark = pytest.mark.usefixtures("forked_workers")


def run_study(recipe: Recipe, folder: Path) -> None:
    context = forkserver()
    multiprocessing.get_context = lambda method: context
    study(recipe, folder, device="cpu", workers=2, quiet=True)


def test_a_study_that_is_killed_continues_as_if_it_never_was(tmp_path: Path) -> None:
    plans = tuple(
        replace(PLAN, seed=seed, feature_dim=size, steps=60) for seed in range(5) for size in (4, 8)
    )
    recipe = Recipe("mine", "", plans, {})
    process = multiprocessing.get_context("forkserver").Process(
        target=run_study, args=(recipe, tmp_path / "killed")
    )
    process.start()
    while len(list(tmp_path.glob("killed/runs/*/scores.json"))) < 2:
        assert process.is_alive()
        time.sleep(0.01)
    process.kill()
    process.join()
    with exclusive_lock(tmp_path / "killed"):  # its workers have ended
        trained, scored = (
            files_of_runs(tmp_path / "killed", mark) for mark in ("finished.json", "scores.json")
        )
    assert 2 <= len(list(tmp_path.glob("killed/runs/*/finished.json"))) < 10
    for folder, count in (("killed", 1), ("once", 2)):
        assert not study(recipe, tmp_path / folder, device="cpu", workers=count, quiet=True).failures
    assert len(list(tmp_path.glob("killed/runs/*/finished.json"))) == 10
    assert files_of_runs(tmp_path / "killed").items() >= scored.items()  # not touched again
    weights = {file: times for file, times in trained.items() if file.suffix != ".json"}
    assert files_of_runs(tmp_path / "killed").items() >= weights.items()  # not trained again
    assert table(tmp_path / "killed") == table(tmp_path / "once") and len(table(tmp_path / "once")) >= 10
    assert (tmp_path / "killed" / "table.md").read_text() == (tmp_path / "once" / "table.md").read_text()


def files_of_runs(study: Path, mark: str = "run.json") -> dict[Path, tuple[int, int]]:
    """Number and time of each file of those runs that have the file `mark`; a replaced file has another number."""
    return {
        path: (path.stat().st_ino, path.stat().st_mtime_ns)
        for found in study.glob(f"runs/*/{mark}")
        for path in found.parent.iterdir()
        if not path.name.startswith(".")
    }


def context_in(folder: Path) -> JobContext:
    return JobContext(folder / "runs", None, "cpu", 1)


def test_a_worker_that_dies_is_replaced_and_its_job_done(tmp_path: Path) -> None:
    plans = [replace(PLAN, seed=seed, steps=400) for seed in (0, 1)]
    (tmp_path / "logs").mkdir()
    killed: set[int | None] = set()
    ends = []
    for end in run_on_workers(
        make_jobs(plans), context_in(tmp_path), workers=2, logs=tmp_path / "logs", patience=0.05
    ):
        if end is not None:
            ends.append(end)
        elif not killed and list(tmp_path.glob("runs/*/history.jsonl")):
            worker = multiprocessing.active_children()[0]
            killed.add(worker.pid)
            worker.kill()
    assert killed and len(ends) == 2 and not any(end.failures for end in ends)


def test_a_worker_starts_deaf_to_interrupts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C reaches all processes of a terminal, and the study ends its workers itself."""
    masks = []

    class Process:
        def __init__(self, **options: Any) -> None: ...

        def start(self) -> None:
            masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    spawn = SimpleNamespace(Pipe=multiprocessing.Pipe, Process=Process)
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: spawn)
    workers._start(0, context_in(tmp_path), tmp_path / "logs")
    assert masks == [{signal.SIGINT}]


def test_one_worker_trains_a_population_and_the_others_evaluate(tmp_path: Path) -> None:
    plans = [replace(PLAN, seed=seed) for seed in range(5)]
    wrong = replace(PLAN, seed=5, grad_clip=-1.0)
    recipe = Recipe("own", "", (*plans, wrong), {})
    result = study(recipe, tmp_path, device="cpu", workers=2, population=2, quiet=True)
    assert [failure["plan"] for failure in result.failures] == [str(wrong)]
    assert len({row[0] for row in table(tmp_path)}) == 5
    assert (
        len(list(tmp_path.glob("logs/*.txt"))) == 5
    )  # the failed run's is that of those it was trained with


def test_a_run_of_a_population_is_evaluated_while_others_train(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    quick, slow = replace(PLAN, seed=0), replace(PLAN, seed=1, steps=5_000)
    context = context_in(tmp_path)._replace(population=2)
    ends = run_on_workers(
        make_jobs([quick, slow], 2), context, workers=2, logs=tmp_path / "logs", patience=0.05
    )
    end = next(end for end in ends if end is not None)
    assert [*end.job.runs] == [quick.folder_name] and finished_run(quick, context.folder)
    assert not (context.folder / slow.folder_name / "finished.json").exists()
    ends.close()


def test_trainings_are_distributed_with_all_evaluations_of_a_run() -> None:
    again = replace(PLAN, seed=0, evaluation={"num_samples": 30})
    plans = [*(replace(PLAN, seed=seed) for seed in range(5)), again]
    first, second = workers._trainings(make_jobs(plans, 2), 2)
    assert [plan.options["seed"] for plan in first.plans] == [0, 0, 2, 4]
    assert [plan.options["seed"] for plan in second.plans] == [1, 3]
    assert {first.stage, second.stage} == {"training"}


def test_a_job_that_always_kills_its_worker_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_serve", exit_at_once)
    (tmp_path / "logs").mkdir()
    job, *_ = make_jobs([PLAN])
    ends = run_on_workers([job], context_in(tmp_path), workers=2, logs=tmp_path / "logs")
    (failure,) = [failure for end in ends if end is not None for failure in end.failures]
    assert "ended with exit code 7, 3 times. Check that there is enough memory." in failure.error


def test_a_population_that_kills_its_worker_is_retried_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_serve", exit_at_once)
    monkeypatch.setattr(workers, "TRIES", 1)
    plans = [PLAN, replace(PLAN, seed=1)]
    ends = train_population(plans, tmp_path)
    assert sorted([*end.job.runs] for end in ends) == sorted([plan.folder_name] for plan in plans)
    assert all(len(end.failures) == 1 for end in ends)


def train_population(plans: list[Plan], folder: Path) -> list[JobResult]:
    """The results of a population's jobs."""
    (folder / "logs").mkdir()
    context = context_in(folder)._replace(population=2)
    ends = run_on_workers(make_jobs(plans, 2), context, workers=2, logs=folder / "logs")
    return [end for end in ends if end is not None]


def exit_at_once(*_: object) -> None:
    os._exit(7)


def test_a_worker_with_a_broken_device_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_serve", serve_with_a_device_that_breaks)
    (tmp_path / "logs").mkdir()
    wrong, *good = replace(PLAN, grad_clip=-1.0), *(replace(PLAN, seed=seed) for seed in (1, 2))
    started: list[int] = []
    start = workers._start
    monkeypatch.setattr(
        workers, "_start", lambda *arguments: started.append(arguments[0]) or start(*arguments)
    )
    ends = [
        end
        for end in run_on_workers(
            make_jobs([wrong, *good]), context_in(tmp_path), workers=1, logs=tmp_path / "logs"
        )
        if end is not None
    ]
    assert [len(end.failures) for end in ends] == [1, 0, 0]
    assert started == [0, 0]  # anew after the failure, and kept after a job that went well
    assert all(finished_run(plan, tmp_path / "runs") for plan in good)


def test_a_population_on_a_broken_device_is_retried_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_serve", serve_with_a_device_that_breaks)
    plans = [replace(PLAN, grad_clip=-1.0), replace(PLAN, seed=1)]
    (failure,) = [failure for end in train_population(plans, tmp_path) for failure in end.failures]
    assert "clip" in failure.error and finished_run(plans[1], tmp_path / "runs")


def test_a_population_that_kills_its_worker_after_a_run_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt reports the same finished run, which must not reset the number of attempts."""
    monkeypatch.setattr(workers, "_serve", report_the_first_and_exit)
    monkeypatch.setattr(workers, "TRIES", 2)
    plans = [PLAN, replace(PLAN, seed=1)]
    failed = {failure.plan for end in train_population(plans, tmp_path) for failure in end.failures}
    assert failed == {str(plan) for plan in plans}


def report_the_first_and_exit(connection: Connection, *_: object) -> None:
    connection.send(next(iter(connection.recv().runs)))
    os._exit(7)


def serve_with_a_device_that_breaks(*arguments: Any) -> None:
    workers.is_usable = lambda _: False
    _serve(*arguments)


def test_failures_and_logs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # start this worker as a study does
    plans = (replace(PLAN, evaluation={"on": {"nonsense": 1}}), PLAN)
    result = study(Recipe("own", "", plans[:1], {}), tmp_path, device="cpu", workers=2, quiet=True)
    (failure,) = result.failures
    assert "nonsense" in failure["error"] and "Traceback" in failure["traceback"]
    assert json.loads((tmp_path / "failures.json").read_text()) == result.failures
    log = (tmp_path / "logs" / f"{PLAN.folder_name}.txt").read_text()
    assert str(PLAN) in log and "Traceback" in log and "20/20 steps" in log


def test_workers_have_the_threads_of_a_run_and_share_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    context = context_in(tmp_path)._replace(device="auto", threads=2)
    seen = []
    for number in range(3):
        with environment(workers._worker_environment(number, context)):
            seen.append((os.environ["CUDA_VISIBLE_DEVICES"], os.environ["OMP_NUM_THREADS"]))
    assert seen == [("3", "2"), ("5", "2"), ("3", "2")]
    assert os.environ["OMP_NUM_THREADS"] == "8" and os.environ["CUDA_VISIBLE_DEVICES"] == "3,5"
    assert "CUDA_VISIBLE_DEVICES" not in workers._worker_environment(1, context._replace(device="cpu"))


def test_weights_are_the_same_whatever_the_workers(tmp_path: Path) -> None:
    """The gradients of convolutions are rounded differently with another number of threads."""
    options = {"image_size": 32, "latent_dim": 4, "steps": 1, "batch_size": 16}
    plans = [
        Plan("beta-vae", "sprites", options | {"seed": seed}, ("kl",), {"num_samples": 9}) for seed in (0, 1)
    ]
    before = torch.get_num_threads()
    torch.set_num_threads(2)  # as a process has on two cores
    try:
        for count in (1, 2):
            study(
                Recipe("own", "", tuple(plans), {}),
                tmp_path / str(count),
                device="cpu",
                workers=count,
                quiet=True,
            )
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    for plan in plans:
        first, second = (
            (tmp_path / count / "runs" / plan.folder_name / "model.safetensors").read_bytes()
            for count in "12"
        )
        assert first == second
    assert table(tmp_path / "1") == table(tmp_path / "2")
