"""Jobs of a study: training and evaluating runs, in this process, a worker or a cluster."""

import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from threadpoolctl import threadpool_limits

from unbraid.data import Sources, find_once
from unbraid.evaluation import evaluate, score_name
from unbraid.runs import Run
from unbraid.studies.aggregate import evaluation_key, scores_for
from unbraid.studies.plan import Plan

# Environment variables that limit the number of threads.
THREAD_VARIABLES: tuple[str, ...] = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class JobContext(NamedTuple):
    """Folders and devices of a study's jobs."""

    folder: Path  # of the run folders
    root: Path | None  # of the data
    device: str
    population: int  # models trained concurrently on a CUDA device
    eval_device: str | None = None  # default: device
    sources: Sources | None = None  # what `auto` stands for, for every process of the study
    threads: int = 1  # of each run: with other numbers, sums are rounded differently
    processes: int = 1  # of each evaluation


class Job(NamedTuple):
    """Runs that are trained together; each may have several plans that differ in their evaluation."""

    plans: tuple[Plan, ...]
    stage: Literal["all", "training", "evaluation"] = "all"

    @property
    def runs(self) -> dict[str, Plan]:
        """One plan per run, by the name of the run folder."""
        return {plan.folder_name: plan for plan in self.plans}


class Failure(NamedTuple):
    """A failed run and its error."""

    run: str
    plan: str
    error: str
    traceback: str


class JobResult(NamedTuple):
    """A finished job and its failed runs."""

    job: Job
    failures: list[Failure]


def make_jobs(plans: Sequence[Plan], population: int = 1) -> list[Job]:
    """Groups plans into jobs: one run per job, or up to twice the population, if several runs train concurrently."""
    by_run: dict[str, list[Plan]] = {}
    for plan in plans:
        by_run.setdefault(plan.folder_name, []).append(plan)
    groups, size = list(by_run.values()), 1 if population == 1 else 2 * population
    return [
        Job(tuple(plan for group in groups[start : start + size] for plan in group))
        for start in range(0, len(groups), size)
    ]


def finished_run(plan: Plan, folder: Path) -> Run | None:
    """The plan's run if it is trained and has all scores of the plan, otherwise None.

    A damaged run is None, too: its job fails with a sentence about the damage, and the other runs continue.
    """
    run_folder = folder / plan.folder_name
    if not (run_folder / "finished.json").exists():
        return None
    try:
        run = Run(run_folder)
        return run if run.finished and not missing_metrics(plan, run) else None
    except ValueError:
        return None


def is_trained(plan: Plan, folder: Path) -> bool:
    """Whether the plan's run has a trained model, or is damaged, which its job says."""
    if not (folder / plan.folder_name / "finished.json").exists():
        return False
    try:
        return Run(folder / plan.folder_name).finished
    except ValueError:
        return True


def missing_metrics(plan: Plan, run: Run) -> list[str]:
    """The metrics of the plan that the run has no score of."""
    present = {score["metric"] for score in scores_for(plan, run)}
    return [metric for metric in plan.metrics if score_name(metric) not in present]


def pending_plans(job: Job, folder: Path) -> dict[str, Plan]:
    """The unfinished runs of a job; for a job of stage `training`, scores are not needed."""
    training_only = job.stage == "training"
    return {
        plan.folder_name: plan
        for plan in job.plans
        if not (
            (folder / plan.folder_name / "finished.json").exists()
            if training_only
            else finished_run(plan, folder)
        )
    }


def run_job_logged(
    job: Job, context: JobContext, logs: Path, on_trained: Callable[[str], None] | None = None
) -> list[Failure]:
    """Calls `run_job` and redirects its output to a log file named after the job's first run."""
    logs.mkdir(parents=True, exist_ok=True)
    with (
        open(
            logs / f"{next(iter(job.runs))}.txt",
            "a",
            buffering=1,
            encoding="utf-8",
            errors="backslashreplace",
        ) as log,
        redirect_stdout(log),
        redirect_stderr(log),
    ):
        print(time.strftime("%Y-%m-%d %H:%M:%S"), *job.runs.values(), sep="\n")
        try:
            failures = run_job(job, context, on_trained=on_trained)
        except KeyboardInterrupt as interrupt:
            print(interrupt)
            raise
        for failure in failures:
            print(failure.traceback)
    return failures


def run_job(
    job: Job, context: JobContext, *, on_trained: Callable[[str], None] | None = None, quiet: bool = False
) -> list[Failure]:
    """Trains and evaluates the unfinished runs of a job; returns the failures.

    With a population, `on_trained` is called with the name of each run folder when its training has succeeded.
    """
    with num_threads(context.threads), find_once(context.sources):
        return _run_job(job, context, on_trained, quiet)


def _run_job(
    job: Job, context: JobContext, on_trained: Callable[[str], None] | None, quiet: bool
) -> list[Failure]:
    for plan in job.plans:
        plan.use_code()  # a worker process has not imported the plan's own code yet
    errors: Mapping[str, Exception] = {}
    if context.population > 1 and job.stage != "evaluation":
        errors = _train_population(job, context, on_trained, quiet)
    failures: dict[str, Failure] = {}
    for plan in job.plans:
        if plan.folder_name in failures:
            continue
        try:
            if plan.folder_name in errors:
                raise errors[plan.folder_name]
            if job.stage != "training":
                _train_and_evaluate(plan, context, quiet)
        except Exception as error:
            failures[plan.folder_name] = Failure(
                str(context.folder / plan.folder_name),
                str(plan),
                f"{type(error).__name__}: {error}",
                "".join(traceback.format_exception(error)),
            )
    return list(failures.values())


@contextmanager
def num_threads(threads: int) -> Iterator[None]:
    """Computes with this number of threads, in torch, BLAS and OpenMP, also in libraries that are loaded meanwhile."""
    before = torch.get_num_threads()
    with environment(dict.fromkeys(THREAD_VARIABLES, str(threads))), threadpool_limits(threads):
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables, and at the end puts their old values back."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def _train_population(
    job: Job, context: JobContext, on_trained: Callable[[str], None] | None, quiet: bool
) -> dict[str, Exception]:
    """Trains a job's runs concurrently; returns the errors by the name of the run folder."""
    from unbraid.training import train_population

    errors: dict[str, Exception] = {}

    def on_end(plan: Plan, outcome: Run | Exception) -> None:
        if isinstance(outcome, Exception):
            errors[plan.folder_name] = outcome
        elif on_trained is not None:
            on_trained(plan.folder_name)

    train_population(
        list(job.runs.values()),
        context.folder,
        max_concurrent=context.population,
        root=context.root,
        device=context.device,
        resume=True,
        on_end=on_end,
        quiet=quiet,
    )
    return errors


def _train_and_evaluate(plan: Plan, context: JobContext, quiet: bool) -> None:
    from unbraid.runs import evaluation_dataset, load, training_dataset

    run_folder, root, device = context.folder / plan.folder_name, context.root, context.device
    finished = (run_folder / "run.json").exists() and Run(run_folder).finished
    run = (
        Run(run_folder)
        if finished
        else plan.run(run_folder, root=root, device=device, resume=True, quiet=quiet)
    )
    if missing := missing_metrics(plan, run):
        arguments: dict[str, Any] = dict(plan.evaluation)
        score_keys: dict[str, Any] = {"evaluation": evaluation_key(plan)}
        steps = arguments.pop("steps", "last")
        if not run.is_last(steps):
            score_keys["steps"] = steps
        method = load(run_folder, weights=steps, device=context.eval_device or device).method
        if "on" in arguments:
            dataset, score_keys["on"] = evaluation_dataset(run, root, **arguments.pop("on"))
        else:
            dataset = training_dataset(run, root)
        if "test_split" in arguments:
            split = arguments.pop("test_split")
            arguments["test_dataset"], score_keys["on"] = evaluation_dataset(run, root, split=split)
        evaluate(
            method,
            dataset,
            missing,
            processes=context.processes,
            quiet=True,
            on_scores=lambda scores: run.add_scores([score | score_keys for score in scores]),
            **arguments,
        )
