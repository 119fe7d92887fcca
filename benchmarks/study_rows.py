"""The rows of a study with their provenance, for docs/results/rows.

    python -m benchmarks.study_rows STUDY --commit 3913cfc --options architecture,salient_dim --out rows.csv

One row per score: the commit of the code that trained, the recipe and its scale, the plan (its identity, with which the
name of the run folder ends), method, dataset, the named options, the seed, metric, value, protocol, number of samples,
and the first digits of the SHA-256 of the weights. The option `steps` is the length at which a run was scored. The
results.csv of a study has the same in the form that `unbraid study --rows` reads.
"""

import argparse
import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from unbraid.runs import Run
from unbraid.studies import Plan
from unbraid.studies.aggregate import scores_for, settings_of
from unbraid.studies.results import StudyFolder, open_study
from unbraid.studies.tables import format_setting

FIRST = ("commit", "recipe", "scale", "plan", "method", "data")
LAST = ("seed", "metric", "value", "protocol", "n", "weights")
DIGITS = 12


def study_rows(study: StudyFolder, *, commit: str, options: Sequence[str]) -> list[dict[str, Any]]:
    """One row per score of the finished runs."""
    return [
        provenance(study, plan, run, commit=commit, options=options)
        | {name: score[name] for name in ("metric", "value", "protocol", "n")}
        for plan, run in study.finished
        if run.finished
        for score in scores_for(plan, run)
    ]


def provenance(
    study: StudyFolder, plan: Plan, run: Run, *, commit: str, options: Sequence[str]
) -> dict[str, Any]:
    """The columns that all scores of a run share; an option that the plan leaves out is empty."""
    settings = settings_of(plan)
    return {
        "commit": commit,
        "recipe": study.recipe,
        "scale": study.scale,
        "plan": plan.identity,
        "method": plan.method_name,
        "data": run.data_name,
        **{name: format_setting(settings[name]) if name in settings else "" for name in options},
        "seed": run.seed,
        "weights": run.sha256(plan.evaluation.get("steps"))[:DIGITS],
    }


def write_rows(path: Path, rows: Iterable[dict[str, Any]], options: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, (*FIRST, *options, *LAST), lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, "value": f"{row['value']:.6g}"} for row in rows)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The arguments of scripts that write rows of a study."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("study", type=Path, help="study folder")
    parser.add_argument("--commit", required=True, help="commit of the code that trained the runs")
    parser.add_argument("--out", type=Path, required=True, help="file of rows")
    return parser


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--options", default="", help="options with a column of their own, with commas")
    args = parser.parse_args()
    options = [name for name in args.options.split(",") if name]
    write_rows(args.out, study_rows(open_study(args.study), commit=args.commit, options=options), options)


if __name__ == "__main__":
    main()
