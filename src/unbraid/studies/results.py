"""The files of a study's folder.

STUDY/
  study.json        recipe, scale, threads of each run, published numbers, each run's options, and the format version
  results.csv       one row per score
  results.parquet   the same records, if pandas and pyarrow are installed (extra `analysis`)
  table.md          mean, standard deviation and n over seeds
  failures.json     failed runs with their errors
"""

import importlib.util
import io
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unbraid.display import failures_html
from unbraid.files import (
    ANY,
    FILE,
    Schema,
    Whole,
    read_json,
    require_schema,
    write_atomically,
    write_json,
)
from unbraid.runs import Run
from unbraid.settings import to_json
from unbraid.studies.aggregate import COLUMNS, Scored, aggregate, evaluation_key, score_run
from unbraid.studies.plan import Plan, Recipe
from unbraid.studies.rows import read_rows, rows_as_csv
from unbraid.studies.tables import Published, Row, html, markdown

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = 1
AGAIN = "move its folder `runs` to a new folder and run `unbraid study` there, which repeats no finished run"
REMEDY = f"Restore it from a copy, or {AGAIN}."
REWRITE = "Run `unbraid study` again to rewrite it."
STUDY: dict[Any, Schema] = {
    **{"recipe": str, "summary": str, "scale": str, "from_command_line": bool},
    **{"num_plans": Whole(), "threads": Whole(1)},
    "published": [{"key": [str], "value": float}],
    "runs": [
        {
            "run": FILE,
            **{"method": str, "data": str, "draw": (str, None)},
            **{"options": {...: ANY}, "metrics": [str], "evaluation": {...: ANY}},
            "committed?": bool,  # whether its scores are from a file of rows
        }
    ],
    "seeds?": (Whole(1), None),
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
    scored: Sequence[Scored] = ()  # the finished runs and committed rows, in the order of the recipe
    seeds: int | None = None  # per setting, if fewer than the recipe has

    @property
    def rows(self) -> list[Row]:
        """Means and standard deviations over seeds."""
        return aggregate(self.scored, self.published)

    @property
    def records(self) -> list[dict[str, Any]]:
        """One record per score."""
        return [record for one in self.scored for record in one.records]

    def _repr_html_(self) -> str:
        return html(self.rows, self.published) + failures_html(self.failures)

    @property
    def command(self) -> str:
        """The command that repeats the study; empty if its recipe was built in Python."""
        if not self.from_command_line:
            return ""
        scale = [] if self.recipe.endswith(".py") and self.scale == "quick" else ["--scale", self.scale]
        seeds = [] if self.seeds is None else ["--seeds", str(self.seeds)]
        threads = [] if self.threads == 1 else ["--threads", str(self.threads)]
        options = [*scale, *seeds, *threads, "--out", str(self.folder)]
        return shlex.join(["unbraid", "study", self.recipe, *options])


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
    return read_rows(path, remedy=REWRITE)


def open_study(folder: Path | str) -> StudyFolder:
    """Opens a study's folder; runs whose folders are missing are left out."""
    path = Path(folder)
    settings = read_description(path)
    entries = [
        (Plan.stored(entry), entry["run"], entry.get("committed", False)) for entry in settings["runs"]
    ]
    rows = read_records(path) if any(committed for *_, committed in entries) else []
    finished: list[tuple[Plan, Run]] = []
    scored: list[Scored] = []
    for plan, name, committed in entries:
        if committed:
            records = [row for row in rows if (row["run"], row["evaluation"]) == (name, evaluation_key(plan))]
            scored.append(Scored(plan, records, name, committed=True))
        elif (path / "runs" / name / "run.json").exists():
            finished.append((plan, run := Run(path / "runs" / name)))
            scored.append(score_run(plan, run, settings["recipe"]))
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
        scored,
        settings.get("seeds"),
    )


def is_study(folder: Path | str) -> bool:
    """Whether the folder contains a study."""
    return (Path(folder) / "study.json").is_file()


def write_results(
    folder: Path,
    recipe: Recipe,
    scored: Sequence[Scored],
    failures: Sequence[dict[str, Any]],
    *,
    threads: int = 1,
    seeds: int | None = None,
) -> None:
    """Writes the results so far; each file is replaced atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [record for one in scored for record in one.records]
    write_json(folder / "study.json", _description(recipe, scored, threads, seeds))
    write_atomically(folder / "results.csv", rows_as_csv(records))
    if records and all(map(importlib.util.find_spec, ("pandas", "pyarrow"))):
        from pandas import DataFrame

        parquet = io.BytesIO()
        DataFrame(records, columns=list(COLUMNS)).to_parquet(parquet, engine="pyarrow", index=False)
        write_atomically(folder / "results.parquet", parquet.getvalue())
    table = markdown(aggregate(scored, recipe.published), recipe.published)
    write_atomically(folder / "table.md", table.encode())
    write_json(folder / "failures.json", list(failures))


def _description(recipe: Recipe, scored: Sequence[Scored], threads: int, seeds: int | None) -> dict[str, Any]:
    """The content of study.json."""
    return {
        "format": FORMAT,
        "recipe": recipe.name,
        "summary": recipe.summary,
        "scale": recipe.scale,
        "from_command_line": recipe.from_command_line,
        "num_plans": len(recipe.runs),
        "seeds": seeds,
        "threads": threads,
        "published": [{"key": list(key), "value": value} for key, value in recipe.published.items()],
        "runs": [
            {
                "run": one.folder,
                "method": one.plan.method,
                "data": one.plan.data,
                "options": to_json(dict(one.plan.options)),
                "metrics": list(one.plan.metrics),
                "evaluation": to_json(dict(one.plan.evaluation)),
                "draw": one.plan.draw,
                "committed": one.committed,
            }
            for one in scored
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
