"""A model that left its run: its weights, and a JSON file that says what they are.

    config.json         method, data, strands, scores and versions, and the format's number
    model.safetensors   the weights

What `unbraid export` writes as safetensors or for the Hugging Face Hub, and `unbraid.load` reads again.
"""

import json
from pathlib import Path
from typing import Any

from torch import Tensor

from unbraid.data.columns import Columns
from unbraid.runs import read_tensors

FORMAT = 1
PARTS = ("method", "data", "strands")


class Exported:
    """The folder of an exported model."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        path = self.folder / "config.json"
        try:
            self.settings: dict[str, Any] = json.loads(path.read_text())
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{path} is not readable as JSON ({error}): restore it or export again."
            ) from None
        if not isinstance(self.settings, dict) or not {"format", *PARTS} <= set(self.settings):
            raise ValueError(
                f"{path} is not that of a model exported by Unbraid, it lacks one of {', '.join(PARTS)}."
            )
        if self.settings["format"] != FORMAT:
            raise ValueError(
                f"{self.folder} is in export format {self.settings['format']}, and this Unbraid reads {FORMAT}: use "
                "the release named in it."
            )

    @property
    def method_name(self) -> str:
        return self.settings["method"]["name"]

    @property
    def columns(self) -> Columns | None:
        """How the rows of its table were brought to one scale, if they were."""
        columns = self.settings["data"].get("columns")
        return None if columns is None else Columns(*(tuple(columns[name]) for name in Columns._fields))

    def weights(self, which: str = "model") -> dict[str, Tensor]:
        """The weights; an export has one file of them."""
        if which != "model":
            raise ValueError(f"{self.folder} was exported with one set of weights: leave out {which!r}.")
        path = self.folder / "model.safetensors"
        if not path.exists():
            raise FileNotFoundError(
                f"{self.folder} has no model.safetensors: give the folder of an export as safetensors or huggingface."
            )
        return read_tensors(path)


def is_exported(folder: Path | str) -> bool:
    """Whether a folder is that of an exported model, and not that of a run."""
    return (Path(folder) / "config.json").is_file() and not (Path(folder) / "run.json").exists()
