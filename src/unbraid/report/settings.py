"""Settings and versions of runs, side by side."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from unbraid.runs import Run


def settings_of(run: Run) -> dict[str, str]:
    """Options of the run as text, by name; a name that two owners have is written in full, `data.noise`."""
    data = run.settings["data"]
    groups: dict[str, dict[str, Any]] = {
        "method": {"method": run.method_name, **run.settings["method"]["arguments"]},
        "data": (data["origin"] or {"options": {}})["options"]
        | {key: value for key, value in data.items() if key != "origin"},
        "draw": {"draw": run.settings["draw"]["name"], **run.settings["draw"]["arguments"]},
        "training": run.settings["training"],
    }
    counts = Counter(name for group in groups.values() for name in group)
    return {
        name if counts[name] == 1 else f"{owner}.{name}": format_value(value)
        for owner, group in groups.items()
        for name, value in group.items()
    }


def side_by_side(tables: Mapping[str, Mapping[str, str]]) -> list[tuple[str, list[str], bool]]:
    """Each name with the value of every run, and whether the values differ."""
    names = dict.fromkeys(name for table in tables.values() for name in table)
    rows = [(name, [table.get(name, "–") for table in tables.values()]) for name in names]
    return [(name, values, len(set(values)) > 1) for name, values in rows]


def format_value(value: Any) -> str:
    """A setting as text."""
    if value is None or value == "" or value == [] or value == {}:
        return "none"
    if isinstance(value, dict):
        if "spec" in value:
            return str(value["spec"])
        if "custom" in value:
            return str(value["custom"])
        if "network" in value:
            return f"{value['network']} ({format_value(value.get('arguments'))})"
        return ", ".join(f"{key} {format_value(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        integers = all(isinstance(entry, int) for entry in value)
        return "×".join(map(str, value)) if integers else ", ".join(map(format_value, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
