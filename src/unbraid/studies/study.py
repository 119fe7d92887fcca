"""Studies: all runs of a recipe, their scores and one results table.

STUDY/
  runs/METHOD-DATA-IDENTITY/      run folders
  logs/METHOD-DATA-IDENTITY.txt   output of runs in worker processes

and the files of studies/results.py: study.json, results.csv, table.md, failures.json.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.data import find_sources
from unbraid.display import failures_html
from unbraid.distributed import choose_device, is_usable
from unbraid.evaluation import check_metric, find_metric
from unbraid.settings import lookup
from unbraid.studies.aggregate import Scored, aggregate, evaluation_key, score_run
from unbraid.studies.jobs import (
    Failure,
    Job,
    JobContext,
    JobResult,
    finished_run,
    is_trained,
    make_jobs,
    run_job,
)
from unbraid.studies.locks import exclusive_lock
from unbraid.studies.placement import evaluation_device, evaluation_processes
from unbraid.studies.plan import Plan, Recipe, first_seeds, replace
from unbraid.studies.results import is_study, write_results
from unbraid.studies.rows import CommittedRows
from unbraid.studies.status import make_status
from unbraid.studies.study_folder import check_folder
from unbraid.studies.tables import Row, html

SECONDS_BETWEEN_TABLES = 20.0
# Of a plan.
EVALUATION_OPTIONS = ("protocol", "num_samples", "num_test_samples", "seed", "test_split", "on", "steps")
MAX_CONCURRENT = 4096  # processes, runs on a GPU or threads: more than a machine has


class StudyResult(NamedTuple):
    """The results table of a study and its failed runs."""

    folder: Path
    rows: list[Row]
    failures: list[dict[str, Any]]

    def _repr_html_(self) -> str:
        return html(self.rows) + failures_html(self.failures)


def study(
    recipe: Recipe,
    out: Path | str,
    *,
    root: Path | str | None = None,
    device: str = "auto",
    eval_device: str | None = None,
    skip_eval: bool = False,
    skip_training: bool = False,
    seeds: int | None = None,
    rows: Sequence[Path | str] = (),
    population: int = 1,
    workers: int = 1,
    threads: int | None = None,
    ray_address: str | None = None,
    cpus_per_run: float = 1.0,
    gpus_per_run: float = 0.0,
    quiet: bool = False,
) -> StudyResult:
    """Trains and evaluates all unfinished runs of a recipe and writes the results table.

    A failed run is recorded and does not stop the others. A restarted study skips finished runs.

    Args:
        recipe: Plans of the study.
        out: Study folder.
        root: Data root of official files.
        device: Device: auto, cpu, cuda, cuda:N or mps.
        eval_device: Device for evaluation. Default: the training device, or the CPU where workers would otherwise
            evaluate on a GPU while others train on it.
        skip_eval: Train without evaluating. Run the study again without this option to evaluate.
        skip_training: Evaluate the runs that are trained, and train none.
        seeds: Number of seeds per setting, the recipe's first; default: all. Finished runs of others stay in the table.
        rows: Files with rows of earlier studies, such as their results.csv. A plan with a row of every metric is not
            run, and its rows are part of the results.
        population: Number of runs trained concurrently per GPU.
        workers: Number of worker processes on this machine, which share its GPUs.
        threads: Number of CPU threads per run, whatever the workers: weights depend on it in their last bits. Default:
            that with which the study began, otherwise 1.
        ray_address: Address of a Ray cluster, used instead of workers.
        cpus_per_run: Cores per run on the cluster.
        gpus_per_run: GPUs per run on the cluster; fractions share a GPU.
        quiet: Hide progress.
    """
    folder = Path(out)
    _check(recipe.runs)
    _check_counts(population, workers, threads)
    if skip_eval and skip_training:
        raise ValueError(
            "A study cannot skip both training and evaluation. Leave out one of the two options."
        )
    if ray_address is None:  # machines of a cluster have their own devices
        for name in {device, device if eval_device is None or skip_eval else eval_device}:
            choose_device(name)  # raises
    committed = CommittedRows(rows)
    plans = tuple(plan for plan in first_seeds(recipe.runs, seeds) if committed.of(plan) is None)
    job_size = population
    if skip_eval:
        plans = tuple(replace(plan, metrics=()) for plan in plans)
        job_size = population if population == 1 else len(plans)  # no evaluation between jobs
    check_folder(folder, recipe, threads)
    with exclusive_lock(folder):
        threads = check_folder(folder, recipe, threads)  # again: another study may have begun meanwhile
        tables = _Tables(folder, recipe, committed, threads, seeds)
        if not is_study(folder):
            tables.write([])  # from now on the folder is known as that of this study
        root = None if root is None else Path(root)
        sources = None if ray_address else find_sources(root)  # machines of a cluster have their own data
        context = JobContext(folder / "runs", root, device, population, eval_device, sources, threads)
        if skip_training:
            plans = tuple(plan for plan in plans if is_trained(plan, context.folder))
        pending = [plan for plan in plans if finished_run(plan, context.folder) is None]
        if ray_address is None:
            trains = not all(is_trained(plan, context.folder) for plan in pending)
            where = evaluation_device(
                device, eval_device, trains=trains, population=population, workers=workers
            )
            context = context._replace(eval_device=where, processes=evaluation_processes(workers))
        jobs = make_jobs(pending, job_size)
        if ray_address is not None:
            from unbraid.studies.ray_cluster import run_on_ray

            ends = run_on_ray(jobs, context, address=ray_address, cpus=cpus_per_run, gpus=gpus_per_run)
        elif workers > 1:
            from unbraid.studies.workers import run_on_workers

            ends = run_on_workers(jobs, context, workers=workers, logs=folder / "logs")
        else:
            ends = _run_here(jobs, context, quiet)
        quiet = quiet or (ray_address is None and workers == 1)
        known = len({plan.folder_name for plan in plans} - {plan.folder_name for plan in pending})
        return _follow(ends, jobs, tables, known=known, quiet=quiet)


def _check_counts(population: int, workers: int, threads: int | None) -> None:
    """Raises an error for impossible counts."""
    counts = {"population": population, "workers": workers, "threads": 1 if threads is None else threads}
    for name, count in counts.items():
        if not 1 <= count <= MAX_CONCURRENT:
            raise ValueError(f"{name} must be from 1 to {MAX_CONCURRENT:,}; got {count}.")


def _check(plans: Sequence[Plan]) -> None:
    """Raises an error for unknown options and metrics and for repeated runs, before the first run starts."""
    seen: set[tuple[str, str]] = set()
    for plan in plans:
        plan.use_code()
        key = (plan.folder_name, evaluation_key(plan))
        if key in seen:
            raise ValueError(
                f"The runs of a recipe must differ, and two are the same: {plan}. Remove one and give the other all "
                "metrics, or change a seed."
            )
        seen.add(key)
        for name in plan.evaluation:
            lookup("option of the evaluation of a plan", name, dict.fromkeys(EVALUATION_OPTIONS))
        _check_steps(plan)
    for metric in dict.fromkeys(metric for plan in plans for metric in plan.metrics):
        check_metric(*find_metric(metric))


def _check_steps(plan: Plan) -> None:
    """Raises unless a run of the plan has the weights that are to be evaluated."""
    if (steps := plan.evaluation.get("steps")) is None:
        return
    training = plan.resolved()["training"]
    if steps not in (*training["keep_weights"], training["steps"]):
        raise ValueError(
            f"A plan is evaluated at step {steps} and does not keep its weights: add it to keep_weights."
        )


def _follow(
    ends: Iterator[JobResult | None], jobs: Sequence[Job], tables: "_Tables", *, known: int, quiet: bool
) -> StudyResult:
    """Shows progress and writes the tables from time to time and at the end."""
    failures: list[Failure] = []
    pending = {name: plan for job in jobs for name, plan in job.runs.items()}
    written = time.monotonic()
    with make_status(pending, tables.folder / "runs", known=known, quiet=quiet) as display:
        for end in ends:
            if end is not None:
                failures += end.failures
                failed = {Path(failure.run).name: failure for failure in end.failures}
                for name in end.job.runs:
                    display.end(name, failed.get(name))
            display.show()
            if time.monotonic() - written > SECONDS_BETWEEN_TABLES:
                tables.write(failures)
                written = time.monotonic()
    rows = aggregate(tables.write(failures), tables.recipe.published)
    return StudyResult(tables.folder, rows, [failure._asdict() for failure in failures])


def _run_here(jobs: Sequence[Job], context: JobContext, quiet: bool) -> Iterator[JobResult]:
    """Runs the jobs in this process, one after the other."""
    for number, job in enumerate(jobs, start=1):
        if not quiet:
            label = (
                next(iter(job.runs.values())) if len(job.runs) == 1 else f"{len(job.runs)} concurrent runs"
            )
            print(f"{number} of {len(jobs)}: {label}", file=sys.stderr, flush=True)
        failures = run_job(job, context, quiet=quiet)
        if not quiet:
            for failure in failures:
                print(f"  failed: {failure.error}", file=sys.stderr, flush=True)
        yield JobResult(job, failures)
        if failures and number < len(jobs) and not is_usable(context.device):
            print(
                "The CUDA device is unusable after this error. Run the same command again to continue.",
                file=sys.stderr,
            )
            return


class _Tables(NamedTuple):
    """The tables of a study: what they are of, and where they are written."""

    folder: Path
    recipe: Recipe
    committed: CommittedRows
    threads: int
    seeds: int | None

    def write(self, failures: Sequence[Failure]) -> list[Scored]:
        """Writes the tables of what is scored so far, in the recipe's order, and returns it."""
        scored = [one for plan in self.recipe.runs if (one := self._scored(plan)) is not None]
        errors = [failure._asdict() for failure in failures]
        write_results(self.folder, self.recipe, scored, errors, threads=self.threads, seeds=self.seeds)
        return scored

    def _scored(self, plan: Plan) -> Scored | None:
        if (rows := self.committed.of(plan)) is not None:
            return rows
        run = finished_run(plan, self.folder / "runs")
        return None if run is None else score_run(plan, run, self.recipe.name)
