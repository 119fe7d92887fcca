"""One piece of a study's work: training runs and scoring them, wherever that is done."""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Literal, NamedTuple

from unbraid.plan import Plan
from unbraid.results import scores_of, scoring_of
from unbraid.runs import Run

THREADS: tuple[str, ...] = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
)  # where their number is read from


class Place(NamedTuple):
    """Where and how runs are done."""

    folder: Path  # of the run folders
    root: Path | None  # of the data
    device: str
    population: int  # models at once on a CUDA device
    scoring: str | None = None  # the device that scores are computed on; left out, the same


class Job(NamedTuple):
    """Runs that are done together; each may be scored in several ways."""

    plans: tuple[Plan, ...]
    part: Literal["all", "training", "scoring"] = "all"

    @property
    def runs(self) -> dict[str, Plan]:
        """A plan of each run, by the run folder's name."""
        return {plan.folder: plan for plan in self.plans}


class Failure(NamedTuple):
    """A run that failed, and why."""

    run: str
    plan: str
    error: str
    traceback: str


class Done(NamedTuple):
    """A job's end."""

    job: Job
    failures: list[Failure]


def jobs_of(plans: Sequence[Plan], population: int = 1) -> list[Job]:
    """The plans by what is trained together: one run each, or as many as two fillings of a population."""
    by_run: dict[str, list[Plan]] = {}
    for plan in plans:
        by_run.setdefault(plan.folder, []).append(plan)
    groups, size = list(by_run.values()), 1 if population == 1 else 2 * population
    return [
        Job(tuple(plan for group in groups[start : start + size] for plan in group))
        for start in range(0, len(groups), size)
    ]


def done(plan: Plan, folder: Path) -> Run | None:
    """The plan's run if it is trained and scored as the plan asks."""
    target = folder / plan.folder
    if not (target / "finished.json").exists():
        return None
    run = Run(target)
    present = {score["metric"] for score in scores_of(plan, run)}
    return run if run.finished and present.issuperset(plan.metrics) else None


def undone(job: Job, folder: Path) -> dict[str, Plan]:
    """Those of a job's runs that have still to be trained, or to be scored where that is a part of the job."""
    trained = job.part == "training"
    return {
        plan.folder: plan
        for plan in job.plans
        if not ((folder / plan.folder / "finished.json").exists() if trained else done(plan, folder))
    }


def do_and_log(
    job: Job, place: Place, logs: Path, trained: Callable[[str], None] | None = None
) -> list[Failure]:
    """The same as `do`, with all that is printed meanwhile in a file named after the job's first run."""
    logs.mkdir(parents=True, exist_ok=True)
    with (
        open(logs / f"{next(iter(job.runs))}.txt", "a", buffering=1) as log,
        redirect_stdout(log),
        redirect_stderr(log),
    ):
        print(time.strftime("%Y-%m-%d %H:%M:%S"), *job.runs.values(), sep="\n")
        try:
            failures = do(job, place, trained=trained)
        except KeyboardInterrupt as asked:
            print(asked)
            raise
        for failure in failures:
            print(failure.traceback)
    return failures


def do(
    job: Job, place: Place, *, trained: Callable[[str], None] | None = None, quiet: bool = False
) -> list[Failure]:
    """Trains and scores what is not done yet; those that failed, with their errors.

    Of a population `trained` is told the name of every run folder as soon as its training has ended well.
    """
    errors: Mapping[str, Exception] = {}
    if place.population > 1 and job.part != "scoring":
        errors = _train_at_once(job, place, trained, quiet)
    failures: dict[str, Failure] = {}
    for plan in job.plans:
        if plan.folder in failures:
            continue
        try:
            if plan.folder in errors:
                raise errors[plan.folder]
            if job.part != "training":
                _train_and_score(plan, place, quiet)
        except Exception as error:
            failures[plan.folder] = Failure(
                str(place.folder / plan.folder),
                str(plan),
                f"{type(error).__name__}: {error}",
                "".join(traceback.format_exception(error)),
            )
    return list(failures.values())


def _train_at_once(
    job: Job, place: Place, trained: Callable[[str], None] | None, quiet: bool
) -> dict[str, Exception]:
    """Trains a job's runs many at a time; what went wrong, by the run folder's name."""
    from unbraid.population import train_population

    errors: dict[str, Exception] = {}

    def ended(plan: Plan, outcome: Run | Exception) -> None:
        if isinstance(outcome, Exception):
            errors[plan.folder] = outcome
        elif trained is not None:
            trained(plan.folder)

    train_population(
        list(job.runs.values()),
        place.folder,
        at_once=place.population,
        root=place.root,
        device=place.device,
        resume=True,
        ended=ended,
        quiet=quiet,
    )
    return errors


def _train_and_score(plan: Plan, place: Place, quiet: bool) -> None:
    from unbraid.evaluate import evaluate
    from unbraid.model import load
    from unbraid.reopen import dataset_beside, dataset_of

    target, root, device = place.folder / plan.folder, place.root, place.device
    finished = (target / "run.json").exists() and Run(target).finished
    run = Run(target) if finished else plan.run(target, root=root, device=device, resume=True, quiet=quiet)
    present = {score["metric"] for score in scores_of(plan, run)}
    missing = [metric for metric in plan.metrics if metric not in present]
    if missing:
        method = load(target, device=place.scoring or device).method
        how: dict[str, Any] = dict(plan.scoring)
        said: dict[str, Any] = {"scoring": scoring_of(plan)}
        if "on" in how:
            dataset, said["on"] = dataset_beside(run, root, **how.pop("on"))
        else:
            dataset = dataset_of(run, root)
        if "test_part" in how:
            how["test_dataset"], said["on"] = dataset_beside(run, root, part=how.pop("test_part"))
        scores = evaluate(method, dataset, missing, quiet=True, **how)
        run.add_scores([score | said for score in scores])
