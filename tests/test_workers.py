"""Processes that do a study's jobs, src/unbraid/workers.py."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from tests.small_study import table
from unbraid import workers
from unbraid.plan import Plan, replace
from unbraid.recipes import Recipe
from unbraid.study import study
from unbraid.work import Done, Place, done, jobs_of
from unbraid.workers import _serve, on_workers

OPTIONS = {"observations": 60, "architecture": "mlp", "features": 8, "steps": 20, "batch": 8}
PLAN = Plan("cnn", "credit", OPTIONS, ("group_accuracy",), {"samples": 0})
RECIPE = f"""
from unbraid.plan import Plan, replace

BASE = Plan("cnn", "credit", {OPTIONS}, ("group_accuracy",), {{"samples": 0}})
runs = [replace(BASE, seed=seed, features=features) for seed in range(10) for features in (4, 8, 16, 32)]
"""


@pytest.mark.slow
def test_a_study_that_is_killed_three_times_ends_as_if_it_never_was(tmp_path: Path) -> None:
    (tmp_path / "forty.py").write_text(RECIPE)
    command = [sys.executable, "-m", "unbraid", "study", "forty.py", "--device", "cpu", "--workers", "2"]
    finished: dict[Path, int] = {}  # when each run ended, so that one that is done again is noticed
    for wanted in (3, 15, 28):
        process = subprocess.Popen(
            [*command, "--out", "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while len(ends := list(tmp_path.glob("killed/runs/*/finished.json"))) < wanted:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        for end in ends:
            assert finished.setdefault(end, end.stat().st_mtime_ns) == end.stat().st_mtime_ns
    done = subprocess.run([*command, "--out", "killed"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("killed/runs/*/finished.json"))) == 40
    assert all(end.stat().st_mtime_ns == ended for end, ended in finished.items())
    once = subprocess.run([*command, "--out", "once"], cwd=tmp_path, capture_output=True, text=True)
    assert once.returncode == 0, once.stderr
    assert table(tmp_path / "killed") == table(tmp_path / "once") and len(table(tmp_path / "once")) >= 40
    assert (tmp_path / "killed" / "table.md").read_text() == (tmp_path / "once" / "table.md").read_text()


def place(folder: Path) -> Place:
    return Place(folder / "runs", None, "cpu", 1)


def test_a_worker_that_dies_is_replaced_and_its_job_done(tmp_path: Path) -> None:
    plans = [replace(PLAN, seed=seed, steps=800) for seed in (0, 1)]
    (tmp_path / "logs").mkdir()
    killed: set[int | None] = set()
    ends = []
    for end in on_workers(jobs_of(plans), place(tmp_path), workers=2, logs=tmp_path / "logs", patience=0.05):
        if end is not None:
            ends.append(end)
        elif not killed and list(tmp_path.glob("runs/*/history.jsonl")):
            worker = multiprocessing.active_children()[0]
            killed.add(worker.pid)
            worker.kill()
    assert killed and len(ends) == 2 and not any(end.failures for end in ends)


def test_a_population_is_trained_by_one_and_scored_by_the_others(tmp_path: Path) -> None:
    plans = [replace(PLAN, seed=seed) for seed in range(5)]
    wrong = replace(PLAN, seed=9, clip=-1.0)
    recipe = Recipe("own", "", (*plans, wrong), {})
    result = study(recipe, tmp_path, device="cpu", workers=2, population=2, quiet=True)
    assert [failure["plan"] for failure in result.failures] == [str(wrong)]
    assert len({row[0] for row in table(tmp_path)}) == 5
    assert (
        len(list(tmp_path.glob("logs/*.txt"))) == 5
    )  # the failed run's is that of those it was trained with


def test_a_run_of_a_population_is_scored_while_others_are_trained(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    quick, slow = replace(PLAN, seed=0), replace(PLAN, seed=1, steps=100_000)
    there = place(tmp_path)._replace(population=2)
    ends = on_workers(jobs_of([quick, slow], 2), there, workers=2, logs=tmp_path / "logs", patience=0.05)
    end = next(end for end in ends if end is not None)
    assert [*end.job.runs] == [quick.folder] and done(quick, there.folder)
    assert not (there.folder / slow.folder / "finished.json").exists()
    ends.close()


def test_trainings_are_dealt_out_with_all_that_is_scored_of_them() -> None:
    again = replace(PLAN, seed=0, scoring={"samples": 30})
    plans = [*(replace(PLAN, seed=seed) for seed in range(5)), again]
    first, second = workers._trainings(jobs_of(plans, 2), 2)
    assert [plan.options["seed"] for plan in first.plans] == [0, 0, 2, 4]
    assert [plan.options["seed"] for plan in second.plans] == [1, 3]
    assert {first.part, second.part} == {"training"}


def test_a_job_that_always_kills_its_worker_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_serve", end_at_once)
    (tmp_path / "logs").mkdir()
    job, *_ = jobs_of([PLAN])
    ends = on_workers([job], place(tmp_path), workers=2, logs=tmp_path / "logs")
    (failure,) = [failure for end in ends if end is not None for failure in end.failures]
    assert "ended with exit code 7, 3 times: is there enough memory?" in failure.error


def test_a_population_that_kills_its_worker_is_tried_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_serve", end_at_once)
    monkeypatch.setattr(workers, "TRIES", 1)
    plans = [PLAN, replace(PLAN, seed=1)]
    ends = at_once(plans, tmp_path)
    assert sorted([*end.job.runs] for end in ends) == sorted([plan.folder] for plan in plans)
    assert all(len(end.failures) == 1 for end in ends)


def at_once(plans: list[Plan], folder: Path) -> list[Done]:
    """The ends of a population's jobs."""
    (folder / "logs").mkdir()
    there = place(folder)._replace(population=2)
    ends = on_workers(jobs_of(plans, 2), there, workers=2, logs=folder / "logs")
    return [end for end in ends if end is not None]


def end_at_once(*_: object) -> None:
    os._exit(7)


def test_a_worker_whose_device_broke_makes_room_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_serve", serve_with_a_device_that_breaks)
    (tmp_path / "logs").mkdir()
    wrong, *good = replace(PLAN, clip=-1.0), *(replace(PLAN, seed=seed) for seed in (1, 2))
    started: list[int] = []
    start = workers._start
    monkeypatch.setattr(workers, "_start", lambda *given: started.append(given[1]) or start(*given))
    ends = [
        end
        for end in on_workers(jobs_of([wrong, *good]), place(tmp_path), workers=1, logs=tmp_path / "logs")
        if end is not None
    ]
    assert [len(end.failures) for end in ends] == [1, 0, 0]
    assert started == [0, 0]  # anew after the failure, and kept after a job that went well
    assert all(done(plan, tmp_path / "runs") for plan in good)


def test_a_population_whose_device_broke_is_tried_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_serve", serve_with_a_device_that_breaks)
    plans = [replace(PLAN, clip=-1.0), replace(PLAN, seed=1)]
    (failure,) = [failure for end in at_once(plans, tmp_path) for failure in end.failures]
    assert "clip" in failure.error and done(plans[1], tmp_path / "runs")


def test_a_population_that_kills_its_worker_after_a_run_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that was done is told of in every try, which is no reason to try for ever."""
    monkeypatch.setattr(workers, "_serve", tell_of_the_first_and_end)
    monkeypatch.setattr(workers, "TRIES", 2)
    plans = [PLAN, replace(PLAN, seed=1)]
    failed = {failure.plan for end in at_once(plans, tmp_path) for failure in end.failures}
    assert failed == {str(plan) for plan in plans}


def tell_of_the_first_and_end(line: Connection, place: Place, logs: Path) -> None:
    line.send(next(iter(line.recv().runs)))
    os._exit(7)


def serve_with_a_device_that_breaks(*given: Any) -> None:
    workers.still_computes = lambda _: False
    _serve(*given)


def test_failures_and_logs_are_kept(tmp_path: Path) -> None:
    plans = (replace(PLAN, scoring={"nonsense": 1}), PLAN)
    result = study(Recipe("own", "", plans[:1], {}), tmp_path, device="cpu", workers=2, quiet=True)
    (failure,) = result.failures
    assert "nonsense" in failure["error"] and "Traceback" in failure["traceback"]
    assert json.loads((tmp_path / "failures.json").read_text()) == result.failures
    log = (tmp_path / "logs" / f"{PLAN.folder}.txt").read_text()
    assert str(PLAN) in log and "Traceback" in log and "20/20 steps" in log


def test_cores_are_divided_and_gpus_dealt_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    seen = []
    for number in range(3):
        with workers._surroundings(number, 3, "auto"):
            seen.append((os.environ["CUDA_VISIBLE_DEVICES"], os.environ["OMP_NUM_THREADS"]))
    assert seen == [("3", "2"), ("5", "2"), ("3", "2")]
    assert os.environ["OMP_NUM_THREADS"] == "1" and os.environ["CUDA_VISIBLE_DEVICES"] == "3,5"
    with workers._surroundings(1, 3, "cpu"):
        assert os.environ["CUDA_VISIBLE_DEVICES"] == "3,5"
