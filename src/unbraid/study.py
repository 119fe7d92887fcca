"""Studies: many runs, scored alike, in one table.

STUDY/
  runs/METHOD-DATA-IDENTITY/   one run folder each
  logs/METHOD-DATA-IDENTITY.txt   what runs in processes of their own printed

and what `unbraid.results` writes: study.json, results.csv, table.md, failures.json.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.devices import choose_device, still_computes
from unbraid.display import failures_html
from unbraid.evaluate import find_metric
from unbraid.live import live
from unbraid.locks import alone
from unbraid.plan import Plan, replace
from unbraid.recipes import Recipe
from unbraid.results import aggregate, scoring_of, write_results
from unbraid.runs import Run
from unbraid.tables import Row, html
from unbraid.work import Done, Failure, Job, Place, do, done, jobs_of

SECONDS_BETWEEN_TABLES = 20.0
LATER = "later"  # in the place of a device to score on


class StudyResult(NamedTuple):
    """What a study found, and what went wrong."""

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
    scoring: str | None = None,
    population: int = 1,
    workers: int = 1,
    ray: str | None = None,
    cpus_per_run: float = 1.0,
    gpus_per_run: float = 0.0,
    quiet: bool = False,
) -> StudyResult:
    """Does every run that is not done yet and writes the tables.

    A run that fails is recorded and does not stop the others; a study that is killed goes on where it was.

    Args:
        recipe: The runs.
        out: The study's folder.
        root: The data root of official files.
        device: auto, cpu, cuda or mps.
        scoring: The same for computing scores, where that is to be done elsewhere: processes that use a GPU take turns
            on it, so that scoring on it slows the trainings there. With `later` runs are trained and not scored: the
            same study without it scores them, here or wherever its folder is copied to.
        population: Runs that are trained at once on one CUDA device, in one process.
        workers: Processes on this machine that do runs, each with its share of the cores and one of the GPUs.
        ray: The address of a Ray cluster that does them instead.
        cpus_per_run: Cores that a run takes on the cluster.
        gpus_per_run: GPUs that a run takes there.
        quiet: Shows no progress.
    """
    folder = Path(out)
    _check(recipe.runs)
    if population < 1 or workers < 1:
        raise ValueError(
            f"A population has at least 1 model and a study at least 1 worker; got population={population} and "
            f"workers={workers}."
        )
    plans, together = recipe.runs, population
    if scoring == LATER:
        plans, scoring = tuple(replace(plan, metrics=()) for plan in plans), None
        together = population if population == 1 else len(plans)  # nothing is done between two batches
    elif scoring is not None and ray is None:
        _choose_scoring(scoring)
    place = Place(folder / "runs", None if root is None else Path(root), device, population, scoring)
    with alone(folder):
        jobs = jobs_of([plan for plan in plans if done(plan, place.folder) is None], together)
        if ray is not None:
            from unbraid.cluster import on_ray

            ends = on_ray(jobs, place, address=ray, cpus=cpus_per_run, gpus=gpus_per_run)
        elif workers > 1:
            from unbraid.workers import on_workers

            ends = on_workers(jobs, place, workers=workers, logs=folder / "logs")
        else:
            ends = _here(jobs, place, quiet)
        failures = _follow(ends, jobs, recipe, folder, quiet=quiet or (ray is None and workers == 1))
        finished = _write_tables(folder, recipe, failures)
    return StudyResult(
        folder, aggregate(finished, recipe.published), [failure._asdict() for failure in failures]
    )


def _choose_scoring(device: str) -> None:
    """A misspelt device is said before the first run starts."""
    try:
        choose_device(device)
    except ValueError as error:
        raise ValueError(f"{str(error).removesuffix('.')}, or {LATER} to score another time.") from None


def _check(plans: Sequence[Plan]) -> None:
    """A misspelt option or metric, and a run that is asked for twice, are said before the first run starts."""
    seen: set[tuple[str, str]] = set()
    for plan in plans:
        key = (plan.folder, scoring_of(plan))
        if key in seen:
            raise ValueError(
                f"Two runs of the recipe are the same: {plan}. Leave one out and ask the other for all metrics, or "
                "give it another seed."
            )
        seen.add(key)
    for metric in dict.fromkeys(metric for plan in plans for metric in plan.metrics):
        find_metric(metric)


def _follow(
    ends: Iterator[Done | None], jobs: Sequence[Job], recipe: Recipe, folder: Path, *, quiet: bool
) -> list[Failure]:
    """Shows how far the jobs are and writes the tables now and then; those that failed."""
    failures: list[Failure] = []
    ahead = {name: plan for job in jobs for name, plan in job.runs.items()}
    known = len({plan.folder for plan in recipe.runs}) - len(ahead)
    written = time.monotonic()
    with live(ahead, folder / "runs", known=known, quiet=quiet) as display:
        for end in ends:
            if end is not None:
                failures += end.failures
                failed = {Path(failure.run).name: failure for failure in end.failures}
                for name in end.job.runs:
                    display.end(name, failed.get(name))
            display.show()
            if time.monotonic() - written > SECONDS_BETWEEN_TABLES:
                _write_tables(folder, recipe, failures)
                written = time.monotonic()
    return failures


def _here(jobs: Sequence[Job], place: Place, quiet: bool) -> Iterator[Done]:
    """Does the jobs in this process, one after the other."""
    for number, job in enumerate(jobs, start=1):
        if not quiet:
            what = next(iter(job.runs.values())) if len(job.runs) == 1 else f"{len(job.runs)} runs at once"
            print(f"{number} of {len(jobs)}: {what}", file=sys.stderr, flush=True)
        failures = do(job, place, quiet=quiet)
        if not quiet:
            for failure in failures:
                print(f"  failed: {failure.error}", file=sys.stderr, flush=True)
        yield Done(job, failures)
        if failures and number < len(jobs) and not still_computes(place.device):
            print(
                "The CUDA device does nothing more after this error: give the same command again, which goes on.",
                file=sys.stderr,
            )
            return


def _write_tables(folder: Path, recipe: Recipe, failures: Sequence[Failure]) -> list[tuple[Plan, Run]]:
    """Writes what is done by now, in the recipe's order, and returns it."""
    finished = [(plan, run) for plan in recipe.runs if (run := done(plan, folder / "runs")) is not None]
    write_results(folder, recipe, finished, [failure._asdict() for failure in failures])
    return finished
