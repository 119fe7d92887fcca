"""What an exported model says of itself, as plain data: config.json, from which its card is written."""

import shlex
from pathlib import Path
from typing import Any

from unbraid import __version__
from unbraid.data.catalogue import DATASETS
from unbraid.data.licences import licence
from unbraid.export.modules import output_names
from unbraid.export.package import Package
from unbraid.exported import FORMAT
from unbraid.report.command import command_of
from unbraid.runs import Run


def describe_export(package: Package, to: str) -> dict[str, Any]:
    """Method, data, strands, scores, training and versions; paths of one's own machine are left out."""
    run, model = package.run, package.model
    data = run.settings["data"]
    described = {name: data[name] for name in ("name", "observations", "shape", "factors")}
    if package.columns is not None:
        described["columns"] = {name: list(values) for name, values in package.columns._asdict().items()}
    return {
        "library": "unbraid",
        "format": FORMAT,
        "to": to,
        "method": run.settings["method"],
        "data": described | {"licence": licence(data)},
        "strands": {name: list(indices) for name, indices in model.strands.items()},
        "default_strand": model.strands.default,
        "input": _inputs(package),
        "outputs": list(output_names(model.method)),
        "decoder": package.decoder is not None,
        "training": run.settings["training"],
        "command": command(run),
        "scores": [
            {key: value for key, value in score.items() if key != "evidence"} for score in run.scores()
        ],
        "versions": {"exported with": f"unbraid {__version__}", **run.versions()},
    }


def command(run: Run) -> str:
    """What to type to train the run again, with the file's name alone for data of one's own; else why not."""
    try:
        words = shlex.split(command_of(run, out=run.folder.name))
    except ValueError as error:
        return f"There is no command line for it: {error}."
    return shlex.join([_anonymous(word) for word in words])


def _anonymous(word: str) -> str:
    """A word of a command line without the folders of a path from the root."""
    return Path(word).name if word not in DATASETS and Path(word).is_absolute() else word


def _inputs(package: Package) -> dict[str, str]:
    """What the encoder takes, in words."""
    shape = package.model.shape
    if package.images:
        channels, height, width = shape
        said = {"observations": f"uint8 images (n, {height}, {width}, {channels}), 255 is white"}
    elif package.columns is None:
        said = {"observations": f"float64 rows (n, {shape[0]}), as the model was trained on"}
    else:
        said = {
            "observations": f"float64 rows (n, {shape[0]}) in the units of the table, columns in its order"
        }
    if package.given == 0:
        said["given"] = "int64 labels (n,)"
    elif package.given is not None:
        said["given"] = f"int64 values (n, {package.given}) of the known nuisances"
    return said
