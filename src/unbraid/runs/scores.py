"""Scores of a run: as a list with a display, and as a file that several evaluations write."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from unbraid.files import locked, read_json
from unbraid.runs.schemas import SCORES

PATIENCE = 30.0  # seconds; writing takes milliseconds


class Scores(list[dict[str, Any]]):
    """One entry per score, with its protocol, sample sizes and seed; printed as a table."""

    def __repr__(self) -> str:
        width = max([len(entry["metric"]) for entry in self], default=0)
        lines = [
            f"{entry['metric']:<{width}}  {entry['value']:.4f}  ({_conditions(entry)})" for entry in self
        ]
        return "\n".join(lines) or "no scores"

    def _repr_html_(self) -> str:
        from unbraid.display import scores_html

        return scores_html(self)


def _conditions(entry: dict[str, Any]) -> str:
    test_size = f"tested on {entry['n_test']}" if entry.get("n_test") else ""
    parts = [entry.get("protocol"), f"n={entry.get('n', 0)}", test_size, f"seed {entry.get('seed', 0)}"]
    return ", ".join(part for part in [*parts, entry.get("on")] if part)


def read_scores(path: Path) -> list[dict[str, Any]]:
    """All scores in a file; none if there is no file."""
    remedy = "Restore it from a copy, or delete it and evaluate the run again."
    return read_json(path, SCORES, remedy=remedy) if path.exists() else []


def merged(old: Iterable[dict[str, Any]], new: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Old and new scores; a new one replaces an old one with equal metric, protocol and arguments."""

    def key(score: Mapping[str, Any]) -> tuple[Any, ...]:
        names = ("metric", "protocol", "seed", "evaluation", "on", "steps")
        return tuple(score.get(name) for name in names)

    return list({key(score): score for score in [*old, *new]}.values())


def only_writer(folder: Path) -> AbstractContextManager[None]:
    """Keeps other processes from writing scores into a run folder."""
    message = f"Another process is writing scores into {folder} and does not end. End it, and run this again."
    return locked(folder / ".scores.lock", message=message, timeout=PATIENCE)
