"""Settings and versions of runs, side by side."""

from collections.abc import Mapping
from typing import Any

from unbraid.runs import Run


def settings_of(run: Run) -> dict[str, str]:
    """What was asked for, by name, in words."""
    groups = {
        "method": {"method": run.method_name, **run.settings["method"]["arguments"]},
        "data": {key: value for key, value in run.settings["data"].items() if key != "origin"},
        "draw": {"draw": run.settings["draw"]["name"], **run.settings["draw"]["arguments"]},
        "training": run.settings["training"],
    }
    return {name: words(value) for group in groups.values() for name, value in group.items()}


def side_by_side(tables: Mapping[str, Mapping[str, str]]) -> list[tuple[str, list[str], bool]]:
    """Each name once with every run's value, and whether they differ."""
    names = dict.fromkeys(name for table in tables.values() for name in table)
    rows = [(name, [table.get(name, "–") for table in tables.values()]) for name in names]
    return [(name, values, len(set(values)) > 1) for name, values in rows]


def words(value: Any) -> str:
    """A setting as a person would write it."""
    if value is None or value == "" or value == [] or value == {}:
        return "none"
    if isinstance(value, dict):
        if "plain" in value:
            return value["plain"]
        if "own" in value:
            return value["own"]
        if "network" in value:
            return f"{value['network']} ({words(value['arguments'])})"
        return ", ".join(f"{key} {words(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        whole = all(isinstance(entry, int) for entry in value)
        return "×".join(map(str, value)) if whole else ", ".join(map(words, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
