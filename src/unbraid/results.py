"""What the runs of a study scored: one record a score, means over seeds, and the files of the study's folder.

STUDY/
  study.json        what was asked for: recipe, scale, published numbers, each run's options (and the format's number)
  results.csv       one row a score
  results.parquet   the same, where pandas and pyarrow are installed (the extra `analysis`)
  table.md          mean, spread and n over seeds
  failures.json     the runs that failed, with their errors
"""

import csv
import importlib.util
import io
import json
import shlex
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unbraid.display import failures_html
from unbraid.plan import Plan
from unbraid.recipes import Recipe, recipe_names
from unbraid.runs import Run, identity, write_atomically, write_json
from unbraid.settings import describe, rebuild
from unbraid.tables import Published, Row, html, markdown, written

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = 1
COLUMNS = (
    *("method", "data", "on", "settings", "seed", "metric", "protocol", "value", "n", "n_test", "seconds"),
    *("run", "unbraid", "torch"),
)
NUMBERS = {"seed": int, "value": float, "n": int, "n_test": int, "seconds": float}
Done = Sequence[tuple[Plan, Run]]


class StudyFolder(NamedTuple):
    """A study as its folder tells it."""

    folder: Path
    recipe: str
    summary: str
    scale: str
    asked: int  # how many runs the recipe lists
    done: list[tuple[Plan, Run]]
    failures: list[dict[str, Any]]
    published: Published

    @property
    def rows(self) -> list[Row]:
        """Means and spreads over seeds."""
        return aggregate(self.done, self.published)

    def _repr_html_(self) -> str:
        return html(self.rows, self.published) + failures_html(self.failures)

    @property
    def command(self) -> str:
        """What to type to do it again; empty where the study was described in Python."""
        if not self.recipe.endswith(".py") and self.recipe not in recipe_names():
            return ""
        scale = [] if self.recipe.endswith(".py") and self.scale == "quick" else ["--scale", self.scale]
        return shlex.join(["unbraid", "study", self.recipe, *scale, "--out", str(self.folder)])


def results(folder: Path | str) -> "DataFrame":
    """Every score of a study as a pandas DataFrame, a row each; needs the extra `analysis`."""
    if importlib.util.find_spec("pandas") is None:
        raise ValueError(
            "Results as a DataFrame need pandas: install it with `pip install unbraid[analysis]`, or read results.csv."
        )
    from pandas import DataFrame

    return DataFrame(read_records(folder), columns=list(COLUMNS))


def read_records(folder: Path | str) -> list[dict[str, Any]]:
    """Every score of a study, a record each, as its results.csv has them."""
    _settings(Path(folder))
    path = Path(folder) / "results.csv"
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: run `unbraid study` again, which writes it.")
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(
                f"{path} has other columns than this Unbraid writes: run `unbraid study` again, which writes it anew."
            )
        return [{name: NUMBERS.get(name, str)(record[name]) for name in COLUMNS} for record in reader]


def open_study(folder: Path | str) -> StudyFolder:
    """A study from its folder alone; runs that are no longer there are left out."""
    place = Path(folder)
    settings = _settings(place)
    done = [
        (
            Plan(
                entry["method"],
                entry["data"],
                rebuild(entry["options"]),
                tuple(entry["metrics"]),
                rebuild(entry["scoring"]),
            ),
            Run(place / "runs" / entry["run"]),
        )
        for entry in settings["runs"]
        if (place / "runs" / entry["run"] / "run.json").exists()
    ]
    failures = place / "failures.json"
    return StudyFolder(
        place,
        settings["recipe"],
        settings["summary"],
        settings["scale"],
        settings["asked"],
        done,
        json.loads(failures.read_text()) if failures.exists() else [],
        {tuple(key): value for *key, value in settings["published"]},
    )


def is_study(folder: Path | str) -> bool:
    """Whether a folder is that of a study."""
    return (Path(folder) / "study.json").is_file()


def write_results(folder: Path, recipe: Recipe, done: Done, failures: Sequence[dict[str, Any]]) -> None:
    """Writes what is known of a study by now; each file whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    records = tidy(done)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(records)
    asked = {
        "format": FORMAT,
        "recipe": recipe.name,
        "summary": recipe.summary,
        "scale": recipe.scale,
        "asked": len(recipe.runs),
        "published": [[*key, value] for key, value in recipe.published.items()],
        "runs": [
            {
                "run": run.folder.name,
                "method": plan.method,
                "data": plan.data,
                "options": describe(dict(plan.options)),
                "metrics": list(plan.metrics),
                "scoring": describe(dict(plan.scoring)),
            }
            for plan, run in done
        ],
    }
    write_json(folder / "study.json", asked)
    write_atomically(folder / "results.csv", text.getvalue().encode())
    if records and all(map(importlib.util.find_spec, ("pandas", "pyarrow"))):
        from pandas import DataFrame

        parquet = io.BytesIO()
        DataFrame(records, columns=list(COLUMNS)).to_parquet(parquet, engine="pyarrow", index=False)
        write_atomically(folder / "results.parquet", parquet.getvalue())
    table = markdown(aggregate(done, recipe.published), recipe.published)
    write_atomically(folder / "table.md", table.encode())
    write_json(folder / "failures.json", list(failures))


def scoring_of(plan: Plan) -> str:
    """What tells the scores of a study from others in the folder: how it asked for them."""
    return identity(describe(dict(plan.scoring)))


def scores_of(plan: Plan, run: Run) -> list[dict[str, Any]]:
    """What the run was scored as the plan asks."""
    scoring = scoring_of(plan)
    return [score for score in run.scores() if score.get("scoring") == scoring]


def tidy(done: Done) -> list[dict[str, Any]]:
    """One record a score."""
    records = []
    for plan, run in done:
        versions = run.versions()
        settings = {name: value for name, value in plan.options.items() if name != "seed"}
        for score in scores_of(plan, run):
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


def aggregate(done: Done, published: Published | None = None) -> list[Row]:
    """Means and spreads over seeds, a row for each method, dataset, varying settings and metric.

    Where runs on a dataset are scored on several, what they are scored on is one of the settings, and so is whatever
    else differs where a run is scored twice.
    """
    again = _differing([plan for plan, _ in done])
    scored = [(plan, run.data_name, scores_of(plan, run)) for plan, run in done]
    scored_on: dict[str, set[str]] = {}
    for _, data, scores in scored:
        scored_on.setdefault(data, set()).update(score.get("on", "") for score in scores)
    varying = varying_options([plan for plan, _ in done])
    values: dict[tuple[str, str, str, str, str], list[float]] = {}
    samples: dict[tuple[str, str, str, str, str], int] = {}
    for plan, data, scores in scored:
        own = {name: value for name, value in plan.options.items() if name in varying[plan.method]}
        own |= {name: plan.scoring.get(name) for name in again.get(plan.folder, ())}
        for score in scores:
            on = {"on": score.get("on", "")} if len(scored_on[data]) > 1 else {}
            settings = json.dumps(describe(own | on), sort_keys=True)
            key = (plan.method, data, settings, score["metric"], score["protocol"])
            values.setdefault(key, []).append(score["value"])
            samples[key] = min(score["n"], samples.get(key, score["n"]))
    return [
        Row(
            *(method, data, json.loads(settings), metric, protocol),
            statistics.fmean(numbers),
            statistics.stdev(numbers) if len(numbers) > 1 else None,
            len(numbers),
            _published(published or {}, method, data, json.loads(settings), metric),
            samples[method, data, settings, metric, protocol],
        )
        for (method, data, settings, metric, protocol), numbers in values.items()
    ]


def _differing(plans: Iterable[Plan]) -> dict[str, list[str]]:
    """By run folder, the arguments of scoring in which its plans differ, but for what they are scored on."""
    ways: dict[str, list[Mapping[str, Any]]] = {}
    for plan in plans:
        ways.setdefault(plan.folder, []).append(plan.scoring)
    return {
        folder: [
            name
            for name in sorted(set().union(*found) - {"on"})
            if len({json.dumps(describe(way.get(name)), sort_keys=True) for way in found}) > 1
        ]
        for folder, found in ways.items()
        if len(found) > 1
    }


def varying_options(plans: Iterable[Plan]) -> dict[str, set[str]]:
    """By method, the options that not all of its plans share, seed left out."""
    count: dict[str, int] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for plan in plans:
        count[plan.method] = count.get(plan.method, 0) + 1
        said = found.setdefault(plan.method, {})
        for name, value in plan.options.items():
            said.setdefault(name, []).append(json.dumps(describe(value), sort_keys=True))
    return {
        method: {
            name
            for name, values in said.items()
            if name != "seed" and (len(values) < count[method] or len(set(values)) > 1)
        }
        for method, said in found.items()
    }


def _published(
    known: Published, method: str, data: str, settings: Mapping[str, Any], metric: str
) -> float | None:
    """The published value under the most that is said of it: `("sw-vae", "rooms", "divergence=jsd", "mig")`."""
    said = [f"{name}={written(value)}" for name, value in settings.items()]
    said = [", ".join(said), *said] if len(said) > 1 else said
    keys = [(method, data, setting, metric) for setting in said]
    keys += [(method, setting, metric) for setting in said]
    keys += [(method, data, metric), (method, metric)]
    return next((known[key] for key in keys if key in known), None)


def _settings(folder: Path) -> dict[str, Any]:
    """The study.json of a folder, in the format that this Unbraid reads."""
    path = folder / "study.json"
    try:
        settings = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"{folder} is not a study's folder, it has no study.json: give the folder that `unbraid study … --out` "
            "wrote."
        ) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path} is not readable as JSON ({error}): run `unbraid study` again, which writes it anew."
        ) from None
    found = settings.get("format") if isinstance(settings, dict) else None
    if found != FORMAT:
        raise ValueError(
            f"{folder} is in study format {found}, and this Unbraid reads {FORMAT}: run `unbraid study` again, which "
            "writes its tables anew, or use the release that wrote it."
        )
    return settings
