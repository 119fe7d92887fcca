"""The options of Unbraid's methods and datasets as a table, so that help needs neither torch nor the methods.

`python -m unbraid.cli.option_table` writes the table anew; a test compares it with the constructors.
"""

import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unbraid.options import ListedOption, Namespaces, Option

TABLE = Path(__file__).with_name("option_table.json")
Table = dict[str, Any]


def listed_options(method: str, data: str | None) -> tuple[str, Namespaces[ListedOption]] | None:
    """The summary and the options of a method on a dataset of Unbraid; None if one of them is not in the table."""
    table = read_table()
    if method not in table["methods"] or (data is not None and data not in table["datasets"]):
        return None
    entry = table["methods"][method]
    background = table["background"] if entry["has_background"] else []
    owners = {
        "method": entry["method"],
        "training": table["training"],
        "network": [option for option in table["network"] if option[0] in entry["network"]],
        "data": [] if data is None else [*table["datasets"][data], *background],
        "draw": entry["draw"],
    }
    options = {
        owner: {name: ListedOption(name, *rest) for name, *rest in rows} for owner, rows in owners.items()
    }
    return entry["summary"], Namespaces(options, dict.fromkeys(owners, ""))


@functools.cache
def read_table() -> Table:
    """The table in this package."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


def current_table() -> Table:
    """The table as the constructors give it now."""
    from unbraid.data import DATASETS
    from unbraid.methods import method_class, method_classes
    from unbraid.options import first_sentence
    from unbraid.studies import plan_options

    methods, networks = {}, dict[str, Option]()
    for name in method_classes():
        options = plan_options(name, "sprites").owners
        networks |= options["network"]
        methods[name] = {
            "summary": first_sentence(method_class(name)),
            "method": _rows(options["method"].values()),
            "network": list(options["network"]),
            "draw": _rows(options["draw"].values()),
            "has_background": "background" in options["data"],
        }
    plain, contrast = (plan_options(name, "sprites").owners for name in ("factor-vae", "contrast-vae"))
    datasets = {name: plan_options("contrast-vae", name).owners["data"] for name in DATASETS}
    return {
        "methods": methods,
        "training": _rows(plain["training"].values()),
        "network": _rows(networks.values()),
        "background": _rows([contrast["data"]["background"]]),
        "datasets": {
            name: _rows(option for option in options.values() if option.name != "background")
            for name, options in datasets.items()
        },
    }


def _rows(options: Iterable[Option]) -> list[list[Any]]:
    return [list(option.listed()) for option in options]


def write_table() -> None:
    """Writes the table with one line per method and per dataset."""
    table = current_table()
    parts = []
    for key, value in table.items():
        entries = value.items() if isinstance(value, dict) else None
        rows = [json.dumps(row, ensure_ascii=False) for row in value] if entries is None else []
        lines = rows or [
            f"{json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}" for name, row in entries or ()
        ]
        start, end = "[]" if entries is None else "{}"
        parts.append(f"{json.dumps(key)}: {start}\n" + ",\n".join(lines) + f"\n{end}")
    TABLE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write_table()
