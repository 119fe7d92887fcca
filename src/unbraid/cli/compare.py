"""`unbraid compare`."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unbraid.cli.console import AsJSON, aligned, print_json


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN|STUDY", help="Two run folders, or one study folder.")
    ],
    metric: Annotated[
        str | None, typer.Option(help="With a study: metric to compare by. Default: all metrics.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="With a study: reference method. Default: the best one.")
    ] = None,
    as_json: AsJSON = False,
) -> None:
    """Compare two runs, or the methods of a study with differences paired by seed."""
    comparison = compare_folders(folders, metric=metric, method=method)
    print_json(comparison) if as_json else print("\n".join(comparison_lines(comparison)))


def compare_folders(folders: Sequence[Path], *, metric: str | None, method: str | None) -> dict[str, Any]:
    """The comparison of two runs, or of the methods of a study, as one JSON value."""
    from unbraid.studies import compare_runs

    if len(folders) == 1:
        return _compare_study(folders[0], metric, method)
    if len(folders) != 2 or metric or method:
        raise ValueError(
            "compare takes two run folders, or one study folder with optional --metric and --method."
        )
    comparison = compare_runs(*folders)
    return {"runs": [str(folder) for folder in folders], **comparison._asdict()}


def _compare_study(folder: Path, metric: str | None, method: str | None) -> dict[str, Any]:
    from unbraid.studies import compare_methods, rank_correlations, read_records

    records = read_records(folder)
    comparisons = compare_methods(records, metric=metric, method=method)
    correlations = [] if metric or method else rank_correlations(records)
    return {
        "study": str(folder),
        "comparisons": [comparison._asdict() for comparison in comparisons],
        "rank_correlations": [
            table._asdict()
            | {"rho": [[None if math.isnan(rho) else rho for rho in row] for row in table.rho.tolist()]}
            | {"both": table.both.tolist()}
            for table in correlations
        ],
    }


def comparison_lines(comparison: dict[str, Any]) -> list[str]:
    """The comparison as lines of text."""
    return _study_lines(comparison) if "study" in comparison else _run_lines(comparison)


def _run_lines(comparison: dict[str, Any]) -> list[str]:
    names = ("", *(Path(run).name for run in comparison["runs"]))
    settings = [(name, first, second) for name, first, second in comparison["settings"]]
    scores = [
        (
            f"{metric} ({protocol})" if protocol else metric,
            *("–" if value is None else f"{value:.4g}" for value in values),
        )
        for metric, protocol, *values in comparison["scores"]
    ]
    lines = aligned([names, *settings]) if settings else ["The settings are identical."]
    return [*lines, "", *(aligned([names, *scores]) if scores else ["Neither run has scores."])]


def _study_lines(comparison: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    heading = None
    for row in comparison["comparisons"]:
        protocol = f" ({row['protocol']})" if row["protocol"] else ""
        first = f"{row['data']}, {row['metric']}{protocol}: {row['first']} {row['first_mean']:.4f}"
        if first != heading:
            lines += [first]
            heading = first
        difference = (
            row["verdict"]
            if row["low"] is None
            else f"difference {row['low']:+.4f} to {row['high']:+.4f} over {row['seeds']} seeds, {row['verdict']}"
        )
        lines.append(f"  {row['second']} {row['second_mean']:.4f}: {difference}")
    for table in comparison["rank_correlations"]:
        lines += ["", f"{table['data']}: Spearman's rank correlations over {table['runs']} runs"]
        rows = [("", *table["metrics"])]
        rows += [
            (name, *("–" if rho is None else f"{rho:.2f}" for rho in row))
            for name, row in zip(table["metrics"], table["rho"], strict=True)
        ]
        lines += ["  " + line for line in aligned(rows)]
    return lines or ["The study has one setting only: there is nothing to compare."]
