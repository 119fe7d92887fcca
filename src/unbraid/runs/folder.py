"""The run folder: what is written, and how it is read back.

    run.json                the settings: method, data, draw and training, and the number of the format
    plan.json               the plan: method, dataset and all options by owner, if the run can be repeated by name
    versions.json           versions, platform and device
    history.jsonl           one line per logged step: terms in nats per observation, seconds
    checkpoint.safetensors  weights, optimizers and generators, from which training resumes exactly
    model.safetensors       the last weights
    finished.json           the last step, and the number of steps in the settings; exists once a run is finished
    best.safetensors        the weights with the lowest validation loss, if there was a validation split
    scores.json             one entry per score, with its protocol, sample sizes and seed
    figures/                images

All files are JSON or safetensors, so that any tool can read a run, and reading a run never runs code from it. Folders
of one format number stay readable by every later release with the same major version.
"""

import hashlib
import json
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor

from unbraid.data import ColumnScaler
from unbraid.files import locked, read_json, read_tensors, write_atomically, write_json, write_tensors
from unbraid.runs.scores import Scores
from unbraid.settings import differences

FORMAT = 1
PARTS = ("method", "data", "training")
WEIGHTS = {"last": "model.safetensors", "best": "best.safetensors"}

SCORES_PATIENCE = 30.0  # seconds; writing takes milliseconds


class Run:
    """One run folder."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        path = self.folder / "run.json"
        try:
            self.settings: dict[str, Any] = read_json(path)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.folder} is not a run folder: it has no run.json. Pass the folder that "
                "`unbraid train … --out` wrote."
            ) from None
        except NotADirectoryError:
            raise ValueError(f"{self.folder} is not a folder. Pass the folder of a run.") from None
        if not isinstance(self.settings, dict) or not {"format", *PARTS} <= set(self.settings):
            raise ValueError(
                f"{path} does not describe a run: it lacks one of {', '.join(PARTS)}. Restore it from a copy."
            )
        if self.settings["format"] != FORMAT:
            raise ValueError(
                f"{self.folder} has run format {self.settings['format']}; this version of Unbraid reads format "
                f"{FORMAT}. Use the version named in its versions.json."
            )

    @classmethod
    def create(cls, folder: Path | str, settings: Mapping[str, Any], *, resume: bool) -> "Run":
        """A new folder with these settings or, with `resume`, the folder that already has them."""
        folder = Path(folder)
        settings = json.loads(json.dumps({"format": FORMAT, **settings}))  # as JSON: lists instead of tuples
        if not (folder / "run.json").exists():
            _create_folder(folder)
            write_json(folder / "run.json", settings)
            return cls(folder)
        run = cls(folder)
        if not resume:
            state = "a finished" if run.finished else "an unfinished"
            raise ValueError(
                f"{folder} already contains {state} run ({run.method_name} on {run.data_name}). Pass --resume (in "
                "Python resume=True) to continue it, or choose another folder."
            )
        differing = sorted(differences(run.settings, settings))
        longer = differing == ["training.steps"] and settings["training"]["steps"] > run.steps
        if differing and not longer:
            raise ValueError(
                f"{folder} contains another run, which differs in {', '.join(differing)}. Resume with the same "
                "settings (only --steps may be larger), or choose another folder."
            )
        if longer:  # the old weights stay until the new ones replace them
            write_json(folder / "run.json", settings)
            run = cls(folder)
        return run

    def finish(self, weights: Mapping[str, Tensor], step: int) -> None:
        """Writes the last weights and deletes the scores of earlier weights."""
        (self.folder / "finished.json").unlink(missing_ok=True)
        (self.folder / "scores.json").unlink(missing_ok=True)
        write_tensors(self.folder / WEIGHTS["last"], weights)
        write_json(self.folder / "finished.json", {"step": step, "steps": self.steps})

    def __repr__(self) -> str:
        state = "finished" if self.finished else "unfinished"
        summary = f"{self.method_name} on {self.data_name}, seed {self.seed}"
        return f"Run({summary}, {self.steps} steps, {state}, {self.folder})"

    def _repr_html_(self) -> str:
        from unbraid.display import run_html

        return run_html(self)

    @property
    def identity(self) -> str:
        """A short hash of the settings."""
        return identity(self.settings)

    @property
    def method_name(self) -> str:
        return self.settings["method"]["name"]

    @property
    def data_name(self) -> str:
        return self.settings["data"]["name"]

    @property
    def columns(self) -> ColumnScaler | None:
        """The names, means and standard deviations of the table's columns; None for images and rows without names."""
        data = self.settings["data"]
        if len(data["shape"]) == 1 and "columns" not in data:
            raise ValueError(
                f"{self.folder} does not record the columns of its table, so rows cannot be encoded. Train it again."
            )
        return None if data.get("columns") is None else ColumnScaler.from_json(data["columns"])

    @property
    def seed(self) -> int:
        return self.settings["training"]["seed"]

    @property
    def steps(self) -> int:
        return self.settings["training"]["steps"]

    @property
    def finished(self) -> bool:
        """Whether training reached the number of steps in the settings, or stopped early."""
        try:
            ending = json.loads((self.folder / "finished.json").read_text())
        except (OSError, json.JSONDecodeError):
            return False
        return ending["steps"] == self.steps and (self.folder / WEIGHTS["last"]).exists()

    def weights(self, which: str = "last") -> dict[str, Tensor]:
        """The trained weights: `last`, or `best` for the lowest validation loss."""
        if which not in WEIGHTS:
            raise ValueError(f"weights must be one of {', '.join(WEIGHTS)}; got {which!r}.")
        path = self.folder / WEIGHTS[which]
        if which == "last" and not self.finished:
            raise FileNotFoundError(
                f"{self.folder} has no {path.name} yet: the run is unfinished. Continue it with --resume."
            )
        if not path.exists():
            raise FileNotFoundError(
                f"{self.folder} has no {path.name}: it was trained without a validation split. Train with "
                "--val-fraction, or use the last weights."
            )
        return read_tensors(path)

    def history(self) -> list[dict[str, Any]]:
        """The logged steps in order; an incomplete line from a killed process is skipped."""
        path = self.folder / "history.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    @property
    def plan(self) -> dict[str, Any] | None:
        """The plan that repeats the run; None if its method or dataset was made in Python."""
        path = self.folder / "plan.json"
        return read_json(path) if path.exists() else None

    def versions(self) -> dict[str, str]:
        """Versions, platform and device of the training; empty if there is no versions.json."""
        path = self.folder / "versions.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def scores(self) -> Scores:
        """The scores, with the latest value of each."""
        path = self.folder / "scores.json"
        return Scores(json.loads(path.read_text()) if path.exists() else [])

    def add_scores(self, scores: list[dict[str, Any]]) -> None:
        """Adds scores; a score replaces an old one with equal metric, protocol, seed, evaluation and dataset."""

        def key(score: Mapping[str, Any]) -> tuple[Any, ...]:
            return tuple(score.get(name) for name in ("metric", "protocol", "seed", "evaluation", "on"))

        message = f"Another process is writing scores into {self.folder} and does not end. End it, and run this again."
        with locked(self.folder / ".scores.lock", message=message, timeout=SCORES_PATIENCE):
            merged = {key(score): score for score in [*self.scores(), *scores]}
            write_json(self.folder / "scores.json", list(merged.values()))


class History:
    """Appends lines to history.jsonl.

    Args:
        run: The run.
        step: The step from which training continues; later lines are dropped first.
        callback: A function that is also called with each new line.
    """

    def __init__(
        self, run: Run, step: int, callback: Callable[[Mapping[str, Any]], None] | None = None
    ) -> None:
        lines = [line for line in run.history() if line["step"] <= step]
        self._path = run.folder / "history.jsonl"
        write_atomically(self._path, "".join(json.dumps(line) + "\n" for line in lines).encode())
        self._start = time.monotonic() - (lines[-1]["seconds"] if lines else 0.0)
        self._callback = callback

    def add(self, step: int, terms: Mapping[str, float]) -> None:
        """Appends the terms of a step and the seconds of training so far."""
        seconds = round(time.monotonic() - self._start, 3)
        line = {"step": step, "seconds": seconds, **terms}
        with open(self._path, "a") as file:
            file.write(json.dumps(line) + "\n")
        if self._callback is not None:
            self._callback(line)


def versions(device: torch.device | str) -> dict[str, str]:
    """Versions of Unbraid, Python and its packages, the platform and the device."""
    from unbraid import __version__

    device = torch.device(device)
    hardware = (
        torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or device.type
    )
    return {
        "unbraid": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "platform": platform.platform(),
        "device": f"{device.type} ({hardware})",
    }


def identity(settings: Mapping[str, Any]) -> str:
    """A short hash of the settings; equal settings have equal hashes."""
    canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def _create_folder(folder: Path) -> None:
    """Creates a folder for a run; raises if it is a file or contains other files."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file. Choose a folder for the run.")
    if folder.exists() and any(entry for entry in folder.iterdir() if not entry.name.startswith(".")):
        raise ValueError(f"{folder} is not empty and is not a run folder. Choose a new or empty folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder} cannot be created ({error.strerror}). Choose another folder.") from None
