"""An exported model: weights and a JSON file that describes them.

    config.json         method, data, strands, scores, versions, hashes, and the number of the format
    model.safetensors   the weights

`unbraid export` writes these files as safetensors or for the Hugging Face Hub, and `unbraid.load` reads them.
"""

from pathlib import Path
from typing import Any

from torch import Tensor

from unbraid.data import ColumnScaler
from unbraid.files import read_json, read_tensors, require_schema
from unbraid.runs.schemas import ANY_FORMAT, EXPORT

FORMAT = 1
REMEDY = "Pass the folder of an export, or export the run again."


class ExportedModel:
    """A folder written by `unbraid export`."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        path = self.folder / "config.json"
        self.settings: dict[str, Any] = read_json(path, ANY_FORMAT, remedy=REMEDY)
        if self.settings["format"] != FORMAT:
            raise ValueError(
                f"{self.folder} has export format {self.settings['format']}; this version of Unbraid reads format "
                f"{FORMAT}. Use the version named in its config.json."
            )
        require_schema(self.settings, EXPORT, str(path), remedy=REMEDY)

    @property
    def method_name(self) -> str:
        return self.settings["method"]["name"]

    @property
    def plan(self) -> dict[str, Any] | None:
        """The plan of the run that was exported; None if its method or dataset was made in Python."""
        return self.settings.get("plan")

    @property
    def columns(self) -> ColumnScaler | None:
        """The names, means and standard deviations of the table's columns; None for images and rows without names."""
        columns = self.settings["data"].get("columns")
        return None if columns is None else ColumnScaler.from_json(columns, owner=str(self.folder))

    def weights(self, which: str | int = "last") -> dict[str, Tensor]:
        """The weights, checked against their hash; an export has one set only."""
        if which != "last":
            raise ValueError(
                f"{self.folder} was exported with one set of weights. Leave out weights={which!r}."
            )
        path = self.folder / "model.safetensors"
        if not path.exists():
            raise FileNotFoundError(
                f"{self.folder} has no model.safetensors. Pass the folder of an export as safetensors or huggingface."
            )
        if path.name not in self.settings["sha256"]:
            raise ValueError(f"{self.folder / 'config.json'} lacks sha256.{path.name}. {REMEDY}")
        return read_tensors(path, sha256=self.settings["sha256"][path.name])


def is_exported(folder: Path | str) -> bool:
    """Whether a folder contains an exported model and no run."""
    return (Path(folder) / "config.json").is_file() and not (Path(folder) / "run.json").exists()
