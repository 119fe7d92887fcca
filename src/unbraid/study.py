"""Studies: many runs, scored alike, in one table.

STUDY/
  runs/METHOD-DATA-IDENTITY/   one run folder each
  failures.json                the runs that failed, with their errors
  results.csv                  one row a score
  table.md                     mean, spread and n over seeds
"""

import csv
import io
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.plan import Plan
from unbraid.recipes import Recipe
from unbraid.results import COLUMNS, Row, aggregate, markdown, scores_of, scoring_of, tidy
from unbraid.runs import Run, write_atomically, write_json


class StudyResult(NamedTuple):
    """What a study found, and what went wrong."""

    folder: Path
    rows: list[Row]
    failures: list[dict[str, Any]]


def study(
    recipe: Recipe,
    out: Path | str,
    *,
    root: Path | str | None = None,
    device: str = "auto",
    population: int = 1,
    quiet: bool = False,
) -> StudyResult:
    """Does every run that is not done yet and writes the tables.

    A run that fails is recorded and does not stop the others; a study that is killed goes on where it was. With a
    `population` above 1, so many runs are trained at once where the device is CUDA; else one after the other.
    """
    folder = Path(out)
    for plan in recipe.runs:
        plan.resolved()  # a misspelt option is said before the first run starts
    failures: list[dict[str, Any]] = []
    done: list[tuple[Plan, Run]] = []
    errors = _train_at_once(recipe.runs, folder / "runs", population, root, device, quiet)
    for place, plan in enumerate(recipe.runs, start=1):
        target = folder / "runs" / plan.folder
        if not quiet:
            print(f"run {place} of {len(recipe.runs)}: {plan}", file=sys.stderr, flush=True)
        try:
            if plan.identity in errors:
                raise errors[plan.identity]
            done.append((plan, _run_and_score(plan, target, root=root, device=device, quiet=quiet)))
        except Exception as error:
            failure = {"run": str(target), "plan": str(plan), "error": f"{type(error).__name__}: {error}"}
            failures.append(failure | {"traceback": traceback.format_exc()})
            if not quiet:
                print(f"  failed: {failure['error']}", file=sys.stderr, flush=True)
        _write_tables(folder, recipe, done, failures)
    return StudyResult(folder, aggregate(done, recipe.published), failures)


def _train_at_once(
    plans: Sequence[Plan],
    folder: Path,
    population: int,
    root: Path | str | None,
    device: str,
    quiet: bool,
) -> dict[str, Exception]:
    """Trains a study's runs many at a time; what went wrong, by the plan's identity."""
    if population < 1:
        raise ValueError(f"A population has at least 1 model; got {population}.")
    if population == 1:
        return {}
    from unbraid.population import train_population

    different = {plan.identity: plan for plan in plans}
    outcomes = train_population(
        list(different.values()),
        folder,
        at_once=population,
        root=root,
        device=device,
        resume=True,
        quiet=quiet,
    )
    return {
        identity: outcome
        for identity, outcome in zip(different, outcomes, strict=True)
        if isinstance(outcome, Exception)
    }


def _run_and_score(plan: Plan, target: Path, *, root: Path | str | None, device: str, quiet: bool) -> Run:
    from unbraid.evaluate import evaluate
    from unbraid.model import load
    from unbraid.reopen import dataset_beside, dataset_of

    finished = (target / "run.json").exists() and Run(target).finished
    run = Run(target) if finished else plan.run(target, root=root, device=device, resume=True, quiet=quiet)
    present = {score["metric"] for score in scores_of(plan, run)}
    missing = [metric for metric in plan.metrics if metric not in present]
    if missing:
        method = load(target, device=device).method
        how, said = dict(plan.scoring), {"scoring": scoring_of(plan)}
        if "on" in how:
            dataset, said["on"] = dataset_beside(run, root, **how.pop("on"))
        else:
            dataset = dataset_of(run, root)
        if "test_part" in how:
            how["test_dataset"], said["on"] = dataset_beside(run, root, part=how.pop("test_part"))
        scores = evaluate(method, dataset, missing, quiet=True, **how)
        run.add_scores([score | said for score in scores])
    return run


def _write_tables(
    folder: Path, recipe: Recipe, done: Sequence[tuple[Plan, Run]], failures: Sequence[dict[str, Any]]
) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(tidy(done))
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "results.csv", text.getvalue().encode())
    write_atomically(
        folder / "table.md", markdown(aggregate(done, recipe.published), recipe.published).encode()
    )
    write_json(folder / "failures.json", list(failures))
