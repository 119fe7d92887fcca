"""The description of an exported model as JSON data: config.json, from which the model card is written."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid import __version__
from unbraid.data import DATASETS
from unbraid.export.bundle import ExportBundle
from unbraid.export.modules import output_names
from unbraid.report import command_of
from unbraid.runs import FORMAT, Run


def describe_export(bundle: ExportBundle, format: str) -> dict[str, Any]:
    """Method, data, strands, scores, training and versions, without paths of this machine."""
    run, model = bundle.run, bundle.model
    data = run.settings["data"]
    dataset = {name: data[name] for name in ("name", "observations", "shape", "factors")}
    dataset |= {name: data[name] for name in ("columns", "label", "nuisances", "value_names") if name in data}
    return {
        "library": "unbraid",
        "format": FORMAT,
        "export_format": format,
        "method": run.settings["method"],
        "plan": None if run.plan is None else {"options": {"network": run.plan["options"]["network"]}},
        "data": dataset | {"license": license_of(data)},
        "strands": {name: list(indices) for name, indices in model.strands.items()},
        "default_strand": model.strands.default,
        "input": _inputs(bundle),
        "outputs": list(output_names(model.method)),
        "decoder": bundle.decoder is not None,
        "training": run.settings["training"],
        "command": command(run),
        "scores": [
            {key: value for key, value in score.items() if key != "evidence"} for score in run.scores()
        ],
        "versions": {"exported with": f"unbraid {__version__}", **run.versions()},
    }


def license_of(data: Mapping[str, Any]) -> str:
    """The license of the data in a run's settings, with that of a background if it differs; empty if unknown."""
    license, background = data["license"], data.get("background", {"license": data["license"]})["license"]
    if not license or background == license:
        return license
    return f"{license}; background: {background or 'unknown'}"


def command(run: Run) -> str:
    """The command that repeats the training, with file names instead of full paths; otherwise why there is none."""
    try:
        words = shlex.split(command_of(run, out=run.folder.name))
    except ValueError as error:
        return f"No command repeats this training: {error}."
    return shlex.join([_without_folders(word) for word in words])


def _without_folders(word: str) -> str:
    """A word of a command line, with an absolute path reduced to its last part."""
    return Path(word).name if word not in DATASETS and Path(word).is_absolute() else word


def _inputs(bundle: ExportBundle) -> dict[str, str]:
    """The inputs of the encoder, described in words."""
    shape = bundle.model.shape
    if bundle.images:
        channels, height, width = shape
        observations = f"uint8 images (n, {height}, {width}, {channels}), white is 255"
    elif bundle.model.columns is None:
        observations = f"float64 rows (n, {shape[0]}) as in training"
    else:
        observations = f"float64 rows (n, {shape[0]}) in the units and the column order of the table"
    inputs = {"observations": observations}
    if bundle.condition_columns == 0:
        inputs["condition"] = "int64 labels (n,)"
    elif bundle.condition_columns is not None:
        inputs["condition"] = f"int64 values (n, {bundle.condition_columns}) of the known nuisances"
    return inputs
