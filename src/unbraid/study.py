"""Studies: many runs, scored alike, in one table.

STUDY/
  runs/METHOD-DATA-IDENTITY/   one run folder each
  failures.json                the runs that failed, with their errors
  results.csv                  one row a score
  table.md                     mean, spread and n over seeds
"""

import csv
import importlib
import importlib.util
import inspect
import io
import json
import pkgutil
import statistics
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.naming import choose
from unbraid.plan import Plan
from unbraid.runs import Run, identity, write_atomically, write_json
from unbraid.settings import describe

COLUMNS = (
    *("method", "data", "on", "settings", "seed", "metric", "protocol", "value", "n", "n_test", "seconds"),
    *("run", "unbraid", "torch"),
)
SCALES = ("quick", "paper")


class Recipe(NamedTuple):
    """A published table or figure, or a study of one's own."""

    name: str
    summary: str
    runs: tuple[Plan, ...]
    published: Mapping[
        tuple[str, ...], float
    ]  # by method and metric, and between them a dataset, a setting or both


class Row(NamedTuple):
    """One line of a study's table: a score over the seeds of one setting."""

    method: str
    data: str
    settings: dict[str, Any]  # those that vary between the method's runs
    metric: str
    protocol: str
    mean: float
    std: float | None  # over seeds; None for a single one
    n: int
    published: float | None


class StudyResult(NamedTuple):
    """What a study found, and what went wrong."""

    folder: Path
    rows: list[Row]
    failures: list[dict[str, Any]]


def recipe_names() -> dict[str, str]:
    """The recipes of the package by name, each with its module."""
    from unbraid import recipes

    found = {}
    for paper in pkgutil.iter_modules(recipes.__path__):
        if paper.ispkg:
            package = importlib.import_module(f"unbraid.recipes.{paper.name}")
            for item in pkgutil.iter_modules(package.__path__):
                found[f"{paper.name}/{item.name}".replace("_", "-")] = (
                    f"unbraid.recipes.{paper.name}.{item.name}"
                )
    return found


def read_recipe(name: str, scale: str = "quick") -> Recipe:
    """A recipe of the package, or a Python file with a list or function `runs` of plans."""
    if scale not in SCALES:
        raise ValueError(f"There is no scale {scale!r}: choose {' or '.join(SCALES)}.")
    if name.endswith(".py"):
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(
                f"There is no file {path}: give a recipe's name or a Python file with `runs`."
            )
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise ValueError(
                f"{path} cannot be read as a recipe: {type(error).__name__}: {error}."
            ) from error
    else:
        module = importlib.import_module(choose("recipe", name, recipe_names()))
    runs = getattr(module, "runs", None)
    if callable(runs):
        runs = runs(scale) if inspect.signature(runs).parameters else runs()
    if not isinstance(runs, Sequence) or not runs or not all(isinstance(plan, Plan) for plan in runs):
        raise ValueError(f"{name} needs a list or a function `runs` of unbraid.Plan; it has {runs!r:.80}.")
    summary = (inspect.getdoc(module) or "").partition("\n")[0]
    return Recipe(name, summary, tuple(runs), getattr(module, "PUBLISHED", {}))


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
    present = {score["metric"] for score in _scores(plan, run)}
    missing = [metric for metric in plan.metrics if metric not in present]
    if missing:
        method = load(target, device=device).method
        how, said = dict(plan.scoring), {"scoring": _scoring(plan)}
        if "on" in how:
            dataset, said["on"] = dataset_beside(run, root, **how.pop("on"))
        else:
            dataset = dataset_of(run, root)
        if "test_part" in how:
            how["test_dataset"], said["on"] = dataset_beside(run, root, part=how.pop("test_part"))
        scores = evaluate(method, dataset, missing, quiet=True, **how)
        run.add_scores([score | said for score in scores])
    return run


def _scoring(plan: Plan) -> str:
    """What tells the scores of a study from others in the folder: how it asked for them."""
    return identity(describe(dict(plan.scoring)))


def _scores(plan: Plan, run: Run) -> list[dict[str, Any]]:
    return [score for score in run.scores() if score.get("scoring") == _scoring(plan)]


def tidy(done: Sequence[tuple[Plan, Run]]) -> list[dict[str, Any]]:
    """One record a score."""
    records = []
    for plan, run in done:
        versions = run.versions()
        settings = {name: value for name, value in plan.options.items() if name != "seed"}
        for score in _scores(plan, run):
            record = {
                "method": plan.method,
                "data": run.data_name,
                "on": score.get("on", ""),
                "settings": json.dumps(describe(settings), sort_keys=True),
                "seed": run.seed,
                "run": run.folder.name,
                "unbraid": versions.get("unbraid", ""),
                "torch": versions.get("torch", ""),
            }
            record |= {
                name: score[name] for name in ("metric", "protocol", "value", "n", "n_test", "seconds")
            }
            records.append({name: record[name] for name in COLUMNS})
    return records


def aggregate(
    done: Sequence[tuple[Plan, Run]], published: Mapping[tuple[str, ...], float] | None = None
) -> list[Row]:
    """Means and spreads over seeds, a row for each method, dataset, varying settings and metric.

    Where runs on a dataset are scored on several, what they are scored on is one of the settings.
    """
    known = published or {}
    values: dict[tuple[str, str, str, str, str], list[float]] = {}
    scored_on: dict[str, set[str]] = {}
    for plan, run in done:
        scored_on.setdefault(run.data_name, set()).update(score.get("on", "") for score in _scores(plan, run))
    for plan, run in done:
        own = _varying(plan, [other for other, _ in done])
        for score in _scores(plan, run):
            on = {"on": score.get("on", "")} if len(scored_on[run.data_name]) > 1 else {}
            varying = json.dumps(describe(own | on), sort_keys=True)
            key = (plan.method, run.data_name, varying, score["metric"], score["protocol"])
            values.setdefault(key, []).append(score["value"])
    return [
        Row(
            method,
            data,
            json.loads(settings),
            metric,
            protocol,
            statistics.fmean(numbers),
            statistics.stdev(numbers) if len(numbers) > 1 else None,
            len(numbers),
            _published(known, method, data, json.loads(settings), metric),
        )
        for (method, data, settings, metric, protocol), numbers in values.items()
    ]


def _published(
    known: Mapping[tuple[str, ...], float], method: str, data: str, settings: Mapping[str, Any], metric: str
) -> float | None:
    """The published value under the most that is said of it: `("sw-vae", "rooms", "divergence=jsd", "mig")`."""
    said = [f"{name}={_written(value)}" for name, value in settings.items()]
    said = [", ".join(said), *said] if len(said) > 1 else said
    keys = [(method, data, setting, metric) for setting in said]
    keys += [(method, setting, metric) for setting in said]
    keys += [(method, data, metric), (method, metric)]
    return next((known[key] for key in keys if key in known), None)


def _varying(plan: Plan, plans: Sequence[Plan]) -> dict[str, Any]:
    """The plan's options that not all plans of its method share, seed left out."""
    peers = [other.options for other in plans if other.method == plan.method]
    return {
        name: value
        for name, value in plan.options.items()
        if name != "seed" and any(name not in other or other[name] != value for other in peers)
    }


def markdown(rows: Sequence[Row], published: Mapping[tuple[str, ...], float] | None = None) -> str:
    """The table for people: a line a setting, a column a score; a metric's further numbers where some are published."""
    further = {key[-1] for key in published or {}}
    headlines = [row for row in rows if "." not in row.metric or row.metric in further]
    metrics = list(dict.fromkeys((row.metric, row.protocol) for row in headlines))
    lines: dict[tuple[str, str, str], dict[tuple[str, str], str]] = {}
    for row in headlines:
        settings = ", ".join(f"{name} {_written(value)}" for name, value in row.settings.items())
        spread = "" if row.std is None else f" ± {row.std:.3g}"
        published = "" if row.published is None else f" [{row.published:.3g}]"
        cells = lines.setdefault((row.method, row.data, settings), {})
        cells[(row.metric, row.protocol)] = f"{row.mean:.4g}{spread} (n={row.n}){published}"
    heading = [
        "method",
        "data",
        "settings",
        *(f"{metric} ({law})" if law else metric for metric, law in metrics),
    ]
    table = [heading, ["---"] * len(heading)]
    table += [[*key, *(cells.get(metric, "") for metric in metrics)] for key, cells in lines.items()]
    note = "\nMean ± standard deviation over n seeds"
    note += "; published values in brackets.\n" if any(row.published is not None for row in rows) else ".\n"
    return "\n".join("| " + " | ".join(line) + " |" for line in table) + "\n" + note


def _written(value: Any) -> str:
    return value["plain"] if isinstance(value, dict) and "plain" in value else str(value)


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
