"""`unbraid report`, `unbraid compare` and `unbraid select`: what a study or its runs tell."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.results import is_study, open_study, read_records

if TYPE_CHECKING:
    from unbraid.select import Selection


def write_page(folder: Path, out: Path | None, root: Path | None, *, explorers: bool = False) -> Path:
    """The page of a run or of a study, with explorers of its runs if they are asked for."""
    from unbraid.report import write_report, write_study_report
    from unbraid.report.study_page import write_explorers
    from unbraid.runs import Run

    if is_study(folder):
        return write_study_report(folder, out, root=root, explorers=explorers)
    if explorers:
        write_explorers([Run(folder)], root)
    return write_report([folder], out, root=root)


def study_table(folder: Path, form: str) -> str:
    """A study's table in Markdown, LaTeX or HTML."""
    from unbraid.tables import in_form

    study = open_study(folder)
    return in_form(form, study.rows, study.published)


def comparison(folders: Sequence[Path], *, metric: str | None, method: str | None) -> dict[str, Any]:
    """Two runs, or the methods of a study, as one JSON value."""
    from unbraid.compare import compare_methods, compare_runs, rank_correlations

    if len(folders) == 1:
        records = read_records(folders[0])
        correlations = [] if metric or method else rank_correlations(records)
        found = compare_methods(records, metric=metric, method=method)
        return {
            "study": str(folders[0]),
            "comparisons": [one._asdict() for one in found],
            "rank_correlations": [
                one._asdict()
                | {"rho": [[None if math.isnan(rho) else rho for rho in row] for row in one.rho.tolist()]}
                | {"both": one.both.tolist()}
                for one in correlations
            ],
        }
    if len(folders) != 2 or metric or method:
        raise ValueError(
            "compare takes two run folders, or one folder of a study with --metric and --method if wanted."
        )
    found = compare_runs(*folders)
    return {"runs": [str(folder) for folder in folders], **found._asdict()}


def comparison_lines(found: dict[str, Any]) -> list[str]:
    """The same for people."""
    return _study_lines(found) if "study" in found else _run_lines(found)


def selection_lines(found: "Selection") -> list[str]:
    """A ranking for people: the best of each dataset first."""
    rows = [
        (one.data, f"{one.score:.4f}", one.method, one.settings, f"seed {one.seed}", one.run)
        for one in found.choices
    ]
    lines = _aligned(rows)
    if any(one.seeds > 1 for one in found.settings):
        over_seeds = [
            (
                one.data,
                f"{one.mean:.4f}" if one.spread is None else f"{one.mean:.4f} ± {one.spread:.4f}",
                one.method,
                one.settings,
                f"{one.seeds} seed{'s' if one.seeds > 1 else ''}",
            )
            for one in found.settings
        ]
        lines += ["", "Settings, over their seeds:", *_aligned(over_seeds)]
    if found.left_out:
        lines += ["", f"{len(found.left_out)} left out:"]
        lines += [f"  {run}: {reason}" for run, reason in found.left_out.items()]
    return lines


def _run_lines(found: dict[str, Any]) -> list[str]:
    names = ("", *(Path(run).name for run in found["runs"]))
    settings = [(name, first, second) for name, first, second in found["settings"]]
    scores = [
        (
            f"{metric} ({law})" if law else metric,
            *("–" if value is None else f"{value:.4g}" for value in values),
        )
        for metric, law, *values in found["scores"]
    ]
    lines = _aligned([names, *settings]) if settings else ["The settings are the same."]
    return [*lines, "", *(_aligned([names, *scores]) if scores else ["Neither has been scored."])]


def _study_lines(found: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    heading = None
    for one in found["comparisons"]:
        law = f" ({one['protocol']})" if one["protocol"] else ""
        first = f"{one['data']}, {one['metric']}{law}: {one['first']} {one['first_mean']:.4f}"
        if first != heading:
            lines += [first]
            heading = first
        how = (
            one["verdict"]
            if one["low"] is None
            else f"difference {one['low']:+.4f} to {one['high']:+.4f} over {one['seeds']} seeds, {one['verdict']}"
        )
        lines.append(f"  {one['second']} {one['second_mean']:.4f}: {how}")
    for table in found["rank_correlations"]:
        lines += ["", f"{table['data']}: Spearman's rank correlations over {table['runs']} runs"]
        rows = [("", *table["metrics"])]
        rows += [
            (name, *("–" if rho is None else f"{rho:.2f}" for rho in row))
            for name, row in zip(table["metrics"], table["rho"], strict=True)
        ]
        lines += ["  " + line for line in _aligned(rows)]
    return lines or ["There is one setting only, and nothing to compare it with."]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
