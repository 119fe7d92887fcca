"""Rows of scores as CSV: those of a study, and committed ones, whose plans a study need not run again."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unbraid.evaluation import score_name
from unbraid.files import ANY, RESTORE, parse_json, read_file, require_schema
from unbraid.studies.aggregate import COLUMNS, Scored, evaluation_key
from unbraid.studies.plan import Plan

DIRECTIONS = {"True": True, "False": False, "": None}
TYPES: dict[str, Callable[[str], Any]] = {
    **{"steps": int, "seed": int, "value": float, "n": int, "n_test": int, "seconds": float},
    "higher_is_better": DIRECTIONS.__getitem__,
}


def read_rows(path: Path, *, remedy: str = RESTORE) -> list[dict[str, Any]]:
    """The rows of a file with the columns of results.csv, with their types; raises for a damaged file."""
    try:
        lines = io.StringIO(read_file(path, remedy).decode(), newline="")
        reader = csv.DictReader(lines, strict=True)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path} must have the columns {', '.join(COLUMNS)}. {remedy}")
        rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not readable as CSV ({error}). {remedy}") from None
    return [_record(row, f"{path}, row {number}", remedy) for number, row in enumerate(rows, start=1)]


def rows_as_csv(records: Sequence[Mapping[str, Any]]) -> bytes:
    """The content of a file that `read_rows` reads."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def _record(row: Mapping[str | None, Any], where: str, remedy: str) -> dict[str, Any]:
    """One row with its types; raises for a damaged one."""
    record = {}
    for name in COLUMNS:
        try:
            record[name] = TYPES.get(name, str)(row[name])
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"In {where}, {name} is {row[name]!r:.60}. {remedy}") from None
    settings = parse_json(record["settings"].encode(), f"{where}, settings", remedy=remedy)
    require_schema(settings, {...: ANY}, f"{where}, settings", remedy=remedy)
    if None in row.values() or None in row or not math.isfinite(record["value"]):
        raise ValueError(f"{where} is damaged. {remedy}")
    return record


class CommittedRows:
    """Rows of earlier studies by plan: by the name of the run folder, which has the plan's identity, and by evaluation.

    Args:
        paths: Files with the columns of results.csv. Of two rows of one score, that of the later file counts.
    """

    def __init__(self, paths: Iterable[Path | str] = ()) -> None:
        self._records: dict[tuple[str, str], dict[tuple[str, str], dict[str, Any]]] = {}
        for path in paths:
            for record in read_rows(Path(path)):
                of_plan = self._records.setdefault((record["run"], record["evaluation"]), {})
                of_plan[record["metric"], record["protocol"]] = record

    def of(self, plan: Plan) -> Scored | None:
        """The rows of a plan; None unless every metric of the plan has one."""
        if not self._records:
            return None  # the identity of a plan takes time
        records = [*self._records.get((plan.folder_name, evaluation_key(plan)), {}).values()]
        metrics = {record["metric"] for record in records}
        complete = bool(records) and all(score_name(metric) in metrics for metric in plan.metrics)
        return Scored(plan, records, plan.folder_name, committed=True) if complete else None
