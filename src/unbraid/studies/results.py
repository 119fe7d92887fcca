"""The files of a study's folder.

STUDY/
  study.json        recipe, scale, threads of each run, published numbers, each run's options, and the format version
  results.csv       one row per score
  results.parquet   the same records, if pandas and pyarrow are installed (extra `analysis`)
  table.md          mean, standard deviation and n over seeds
  failures.json     failed runs with their errors
"""

import csv
import importlib.util
import io
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unbraid.display import failures_html
from unbraid.files import (
    ANY,
    FILE,
    Schema,
    Whole,
    parse_json,
    read_file,
    read_json,
    require_schema,
    write_atomically,
    write_json,
)
from unbraid.runs import Run
from unbraid.settings import to_json
from unbraid.studies.aggregate import COLUMNS, FinishedRuns, aggregate, tidy
from unbraid.studies.plan import Plan, Recipe
from unbraid.studies.tables import Published, Row, html, markdown

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = 1
AGAIN = "move its folder `runs` to a new folder and run `unbraid study` there, which repeats no finished run"
REMEDY = f"Restore it from a copy, or {AGAIN}."
REWRITE = "Run `unbraid study` again to rewrite it."
DIRECTIONS = {"True": True, "False": False, "": None}
TYPES: dict[str, Callable[[str], Any]] = {
    **{"seed": int, "value": float, "n": int, "n_test": int, "seconds": float},
    "higher_is_better": DIRECTIONS.__getitem__,
}
STUDY: dict[Any, Schema] = {
    **{"recipe": str, "summary": str, "scale": str, "from_command_line": bool},
    **{"num_plans": Whole(), "threads": Whole(1)},
    "published": [{"key": [str], "value": float}],
    "runs": [
        {
            "run": FILE,
            **{"method": str, "data": str, "draw": (str, None)},
            **{"options": {...: ANY}, "metrics": [str], "evaluation": {...: ANY}},
        }
    ],
}
FAILURES: list[Schema] = [{"run": str, "plan": str, "error": str, "traceback": str}]


class StudyFolder(NamedTuple):
    """What a study's folder contains."""

    folder: Path
    recipe: str
    summary: str
    scale: str
    from_command_line: bool
    num_plans: int  # in the recipe
    finished: list[tuple[Plan, Run]]
    failures: list[dict[str, Any]]
    published: Published
    threads: int = 1  # of each run

    @property
    def rows(self) -> list[Row]:
        """Means and standard deviations over seeds."""
        return aggregate(self.finished, self.published)

    def _repr_html_(self) -> str:
        return html(self.rows, self.published) + failures_html(self.failures)

    @property
    def command(self) -> str:
        """The command that repeats the study; empty if its recipe was built in Python."""
        if not self.from_command_line:
            return ""
        scale = [] if self.recipe.endswith(".py") and self.scale == "quick" else ["--scale", self.scale]
        threads = [] if self.threads == 1 else ["--threads", str(self.threads)]
        return shlex.join(["unbraid", "study", self.recipe, *scale, *threads, "--out", str(self.folder)])


def results(folder: Path | str) -> "DataFrame":
    """All scores of a study as a pandas DataFrame, one row per score. Needs the extra `analysis`."""
    if importlib.util.find_spec("pandas") is None:
        raise ValueError(
            "Results as a DataFrame need pandas. Run `pip install unbraid[analysis]`, or open results.csv."
        )
    from pandas import DataFrame

    return DataFrame(read_records(folder), columns=list(COLUMNS))


def read_records(folder: Path | str) -> list[dict[str, Any]]:
    """All scores of a study from its results.csv, one record per score."""
    read_description(Path(folder))
    path = Path(folder) / "results.csv"
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist. Run `unbraid study` again to write it.")
    try:
        lines = io.StringIO(read_file(path, REWRITE).decode(), newline="")
        reader = csv.DictReader(lines, strict=True)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path} must have the columns {', '.join(COLUMNS)}. {REWRITE}")
        rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not readable as CSV ({error}). {REWRITE}") from None
    return [_record(row, f"{path}, row {number}") for number, row in enumerate(rows, start=1)]


def _record(row: Mapping[str | None, Any], where: str) -> dict[str, Any]:
    """A row of results.csv with its types; raises for a damaged one."""
    record = {}
    for name in COLUMNS:
        try:
            record[name] = TYPES.get(name, str)(row[name])
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"In {where}, {name} is {row[name]!r:.60}. {REWRITE}") from None
    settings = parse_json(record["settings"].encode(), f"{where}, settings", remedy=REWRITE)
    require_schema(settings, {...: ANY}, f"{where}, settings", remedy=REWRITE)
    if None in row.values() or None in row or not math.isfinite(record["value"]):
        raise ValueError(f"{where} is damaged. {REWRITE}")
    return record


def open_study(folder: Path | str) -> StudyFolder:
    """Opens a study's folder; runs whose folders are missing are left out."""
    path = Path(folder)
    settings = read_description(path)
    finished = [
        (
            Plan.stored(entry),
            Run(path / "runs" / entry["run"]),
        )
        for entry in settings["runs"]
        if (path / "runs" / entry["run"] / "run.json").exists()
    ]
    failures = path / "failures.json"
    return StudyFolder(
        path,
        settings["recipe"],
        settings["summary"],
        settings["scale"],
        settings["from_command_line"],
        settings["num_plans"],
        finished,
        read_json(failures, FAILURES, remedy=REWRITE) if failures.exists() else [],
        {tuple(entry["key"]): entry["value"] for entry in settings["published"]},
        settings["threads"],
    )


def is_study(folder: Path | str) -> bool:
    """Whether the folder contains a study."""
    return (Path(folder) / "study.json").is_file()


def write_results(
    folder: Path,
    recipe: Recipe,
    finished: FinishedRuns,
    failures: Sequence[dict[str, Any]],
    threads: int = 1,
) -> None:
    """Writes the results so far; each file is replaced atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    records = tidy(finished)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(records)
    write_json(folder / "study.json", _description(recipe, finished, threads))
    write_atomically(folder / "results.csv", text.getvalue().encode())
    if records and all(map(importlib.util.find_spec, ("pandas", "pyarrow"))):
        from pandas import DataFrame

        parquet = io.BytesIO()
        DataFrame(records, columns=list(COLUMNS)).to_parquet(parquet, engine="pyarrow", index=False)
        write_atomically(folder / "results.parquet", parquet.getvalue())
    table = markdown(aggregate(finished, recipe.published), recipe.published)
    write_atomically(folder / "table.md", table.encode())
    write_json(folder / "failures.json", list(failures))


def _description(recipe: Recipe, finished: FinishedRuns, threads: int) -> dict[str, Any]:
    """The content of study.json."""
    return {
        "format": FORMAT,
        "recipe": recipe.name,
        "summary": recipe.summary,
        "scale": recipe.scale,
        "from_command_line": recipe.from_command_line,
        "num_plans": len(recipe.runs),
        "threads": threads,
        "published": [{"key": list(key), "value": value} for key, value in recipe.published.items()],
        "runs": [
            {
                "run": run.folder.name,
                "method": plan.method,
                "data": plan.data,
                "options": to_json(dict(plan.options)),
                "metrics": list(plan.metrics),
                "evaluation": to_json(dict(plan.evaluation)),
                "draw": plan.draw,
            }
            for plan, run in finished
        ],
    }


def read_description(folder: Path) -> dict[str, Any]:
    """The content of study.json, checked for its format version."""
    path = folder / "study.json"
    try:
        settings = read_json(path, {"format": Whole()}, remedy=REMEDY)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"{folder} is not a study folder: it has no study.json. Give the folder that `unbraid study … --out` wrote."
        ) from None
    if settings["format"] != FORMAT:
        raise ValueError(
            f"{folder} must be in study format {FORMAT}, and is in {settings['format']}. Use the release that wrote "
            f"it, or {AGAIN}."
        )
    require_schema(settings, STUDY, str(path), remedy=REMEDY)
    return settings
