"""The schemas of the files in a run folder and in an export; `unbraid.files.require_schema` says how they are read.

Further keys are allowed, so that anybody may add notes to a file.
"""

from typing import Any

from unbraid.files import ANY, FILE, SHA256, TABLE, Schema, Whole

SIZE = Whole(1)  # of something that cannot be empty
OPTIONS: dict[Any, Schema] = {...: ANY}  # of any form: `unbraid.settings.from_json` checks them
CODE: dict[Any, Schema] = {"name": str, "arguments": OPTIONS, "code?": str, "source?": (str, None)}
SHAPE: list[Schema] = [SIZE]
COLUMNS: dict[Any, Schema] = {"names": [str], "mean": [float], "std": [float], "fill": [float]}
DATASET: dict[Any, Schema] = {
    "name": str,
    "observations": SIZE,
    "shape": SHAPE,
    "factors": {...: SIZE},
    "license": str,
    "columns?": (COLUMNS, None),
    "label?": (str, None),
    "nuisances?": [str],
    "value_names?": {...: [str]},
}
BACKGROUND: dict[Any, Schema] = {
    **DATASET,
    "origin": ({"name": str, "options": OPTIONS}, None),
    "unordered": [str],
    "fingerprint": str,
    "instance?": (str, None),
}
TRAINING: dict[Any, Schema] = {
    **{"steps": SIZE, "batch_size": SIZE, "seed": Whole(-(2**63), 2**64)},
    "keep_weights?": [SIZE],
}
ANY_FORMAT: dict[Any, Schema] = {"format": Whole()}
RUN: dict[Any, Schema] = {
    "format": Whole(),
    "method": CODE,
    "data": {**BACKGROUND, "background?": BACKGROUND},
    "draw": CODE,
    "training": TRAINING,
    "init_from": (str, None),
}
PLAN: dict[Any, Schema] = {
    "method": str,
    "data": str,
    "draw": (str, None),
    "options": {
        **dict.fromkeys(("method", "data", "draw", "training"), OPTIONS),
        "network": {"architecture?": (str, None), "latent_dim?": Whole()},
        ...: OPTIONS,
    },
}
VERSIONS: dict[Any, Schema] = {...: str}
FINISHED: dict[Any, Schema] = {
    **{"step": Whole(), "steps": SIZE, "sha256": SHA256},
    **{"kept?": {...: SHA256}, "moving?": [FILE]},
}
HISTORY_LINE: dict[Any, Schema] = {"step": Whole(), "seconds": float, ...: float}
SCORES: list[Schema] = [
    {
        "metric": str,
        "protocol": str,
        "value": float,
        "higher_is_better": (bool, None),
        "n": Whole(),
        "n_test": Whole(),
        "seed": Whole(),
        "seconds": float,
        "on?": str,
        "evaluation?": str,
        "steps?": SIZE,
        "identity?": str,
        "evidence?": {...: TABLE},
    }
]
EXPORT: dict[Any, Schema] = {
    "format": Whole(),
    "method": CODE,
    "plan": ({"options": {"network": PLAN["options"]["network"]}}, None),
    "data": DATASET,
    "strands": {...: [Whole()]},
    "default_strand": str,
    "training": TRAINING,
    "command": str,
    "scores": SCORES,
    "versions": VERSIONS,
    "sha256": {...: SHA256},  # of each file with weights
}
