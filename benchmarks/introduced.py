"""Adds new options to src/unbraid/studies/introduced.json, with their current defaults.

    python benchmarks/introduced.py

The identity of a run counts the options that differ from the value they were introduced with. Entries that are there
are never changed: a changed default must give a new identity. Entries of removed options are deleted.
"""

import json
from typing import Any

from unbraid.data import DATASETS, DRAWS, constructor
from unbraid.data.arrays import from_npz
from unbraid.data.image_folder import image_folder
from unbraid.data.registry import add_sampling_options
from unbraid.data.table import from_csv
from unbraid.methods import DATASET_SIZES, build_method, built_arguments, method_classes
from unbraid.options import Option, options_of
from unbraid.settings import to_json
from unbraid.studies.plan_identity import TABLE, introduced_values
from unbraid.training import TrainConfig


def current_options() -> dict[str, dict[str, Option]]:
    """The options of every method, dataset, kind of file and draw of Unbraid, of networks and of training."""
    not_networks = ("cls", "shape", *DATASET_SIZES, "seed")
    options = {
        f"method {name}": options_of(cls, leave_out=built_arguments(cls))
        for name, cls in method_classes().items()
    }
    options |= {f"data {name}": options_of(constructor(name), leave_out=("root",)) for name in DATASETS}
    options |= {
        f"data {make.__name__}": options_of(add_sampling_options(make), leave_out=("path",))
        for make in (image_folder, from_npz, from_csv)
    }
    options |= {f"draw {draw.__name__}": options_of(draw) for draw in DRAWS.values()}
    options |= {
        "network": options_of(build_method, leave_out=not_networks),
        "training": options_of(TrainConfig),
    }
    background = Option("background", str, None, "")
    return {
        owner: {**found, **({"background": background} if owner.startswith("data ") else {})}
        for owner, found in options.items()
    }


def updated(table: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The table with new options and without removed ones."""
    return {
        owner: {
            name: table.get(owner, {}).get(name, to_json(option.default))
            for name, option in sorted(options.items())
        }
        for owner, options in sorted(current_options().items())
    }


if __name__ == "__main__":
    table = introduced_values() if TABLE.exists() else {}
    lines = [
        f"{json.dumps(owner)}: {json.dumps(values, ensure_ascii=False)}"
        for owner, values in updated(table).items()
    ]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
