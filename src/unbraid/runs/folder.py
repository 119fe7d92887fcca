"""The run folder: what is written, and how it is read back::

    run.json                the settings: method, data, draw and training, and the number of the format
    plan.json               the plan: method, dataset and all options by owner, if the run can be repeated by name
    versions.json           versions, platform and device
    history.jsonl           one line per logged step: terms in nats per observation, seconds
    checkpoint.safetensors  weights, optimizers and generators, from which training resumes exactly
    model.safetensors       the last weights
    finished.json           the last step, the number of steps in the settings, the SHA-256 of model.safetensors, and
                            those of the weights kept at earlier steps; exists once a run is finished
    best.safetensors        the weights with the lowest validation loss, if there was a validation split
    model-STEP.safetensors  the weights after a step of --keep-weights
    scores.json             one entry per score, with its protocol, sample sizes and seed
    figures/                images

While a finished run is trained further, its new files wait as hidden `.next-NAME`. `finished.json` then names them as
`moving`, and they take the place of the old ones.

All files are JSON or safetensors, so that any tool can read a run, and reading a run never runs code from it. Every
file is checked when it is read: JSON against its schema (schemas.py), weights against their hash. Folders of one format
number stay readable by every later release with the same major version.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from unbraid.data import ColumnScaler
from unbraid.files import (
    parse_json,
    read_file,
    read_json,
    require_schema,
    sha256_of,
    sync_folder,
    write_json,
    write_tensors,
)
from unbraid.runs.schemas import ANY_FORMAT, FINISHED, HISTORY_LINE, PLAN, RUN, VERSIONS
from unbraid.runs.scores import Scores, merged, only_writer, read_scores
from unbraid.runs.weights import KEPT, WEIGHTS, hashes_of_kept, read_weights
from unbraid.settings import differences, identity

FORMAT = 1
NEXT = ".next-"  # beginning of the names of files that wait for the end of a training


class Run:
    """One run folder."""

    def __init__(self, folder: Path | str) -> None:
        self.folder, self._extends = Path(folder), False
        path = self.path("run.json")
        try:
            self.settings: dict[str, Any] = read_json(path, ANY_FORMAT)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.folder} is not a run folder: it has no run.json. Pass the folder that "
                "`unbraid train … --out` wrote."
            ) from None
        except NotADirectoryError:
            raise ValueError(f"{self.folder} is not a folder. Pass the folder of a run.") from None
        if self.settings["format"] != FORMAT:
            raise ValueError(
                f"{self.folder} has run format {self.settings['format']}; this version of Unbraid reads format "
                f"{FORMAT}. Use the version named in its versions.json."
            )
        require_schema(self.settings, RUN, str(path))

    @classmethod
    def create(cls, folder: Path | str, settings: Mapping[str, Any], *, resume: bool) -> "Run":
        """A new folder with these settings or, with `resume`, the folder that already has them."""
        run = cls.prepare(folder, settings, resume=resume)
        run.begin()
        return run

    @classmethod
    def prepare(cls, folder: Path | str, settings: Mapping[str, Any], *, resume: bool) -> "Run":
        """What `create` returns, before anything is written; `begin` writes it."""
        folder = Path(folder)
        new_settings = json.loads(json.dumps({"format": FORMAT, **settings}))  # lists instead of tuples
        if not (folder / "run.json").exists():
            check_new_folder(folder)
            run = cls.__new__(cls)
            run.folder, run.settings, run._extends = folder, new_settings, False
            return run
        run = cls(folder)
        if not resume:
            state = "a finished" if run.finished else "an unfinished"
            raise ValueError(
                f"{folder} already contains {state} run ({run.method_name} on {run.data_name}). Pass --resume (in "
                "Python resume=True) to continue it, or choose another folder."
            )
        differing = sorted(differences(run.settings, new_settings))
        longer = differing == ["training.steps"] and new_settings["training"]["steps"] > run.steps
        if differing and not longer:
            raise ValueError(
                f"{folder} contains another run, which differs in {', '.join(differing)}. Resume with the same "
                "settings (only --steps may be larger), or choose another folder."
            )
        run.settings, run._extends = new_settings, run.finished
        return run

    def begin(self, **documents: Any) -> None:
        """Writes the settings and further JSON files; those of a finished run stay until `finish` replaces them."""
        create_folder(self.folder)
        for name, content in {"run": self.settings, **documents}.items():
            write_json(self.new_path(f"{name}.json"), content)

    def finish(self, weights: Mapping[str, Tensor], step: int) -> None:
        """Writes the last weights. They replace the weights and scores of a shorter training at once.

        A process that is killed between any two writes leaves the old model with its scores, or the new model.
        """
        if self._extends:
            write_json(self.new_path("scores.json"), [])
        else:
            (self.folder / "scores.json").unlink(missing_ok=True)
        write_tensors(self.new_path(WEIGHTS["last"]), weights)
        moving = sorted(path.name.removeprefix(NEXT) for path in self.folder.glob(f"{NEXT}*"))
        sha256 = sha256_of(self.new_path(WEIGHTS["last"]))
        ending: dict[str, Any] = {"step": step, "steps": self.steps, "sha256": sha256}
        steps = [early for early in self.settings["training"].get("keep_weights", ()) if early < step]
        if kept := self._ending().get("kept", {}) | (hashes_of_kept(steps, self.new_path) if steps else {}):
            ending["kept"] = kept
        write_json(self.folder / "finished.json", ending | ({"moving": moving} if moving else {}))
        self.move_new_files()
        self._extends = True

    def keep(self, weights: Mapping[str, Tensor], step: int) -> None:
        """Writes the weights after a step before the last."""
        write_tensors(self.new_path(KEPT.format(step)), weights)

    def move_new_files(self) -> None:
        """Moves the files of a longer training over those of a shorter one, unless a process has done so."""
        ending = self._ending()
        if moving := ending.pop("moving", []):
            for new in self.folder.glob(f"{NEXT}*"):
                if (name := new.name.removeprefix(NEXT)) in moving:
                    os.replace(new, self.folder / name)
            sync_folder(self.folder)
            write_json(self.folder / "finished.json", ending)

    def path(self, name: str) -> Path:
        """Where the file of the run with this name is: a longer training may have finished without moving it."""
        new = self.folder / f"{NEXT}{name}"
        return new if new.exists() and name in self._ending().get("moving", []) else self.folder / name

    def new_path(self, name: str) -> Path:
        """Where a training writes the file with this name."""
        return self.folder / (f"{NEXT}{name}" if self._extends else name)

    def _ending(self) -> dict[str, Any]:
        """What finished.json says; nothing for an unfinished run."""
        path = self.folder / "finished.json"
        remedy = "Restore it from a copy, or delete it and continue the run with --resume."
        return read_json(path, FINISHED, remedy=remedy) if path.exists() else {}

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
        return (
            None
            if data.get("columns") is None
            else ColumnScaler.from_json(data["columns"], owner=str(self.folder))
        )

    @property
    def seed(self) -> int:
        return self.settings["training"]["seed"]

    @property
    def steps(self) -> int:
        return self.settings["training"]["steps"]

    @property
    def finished(self) -> bool:
        """Whether the run has a trained model, which can be used; it stays while the run is trained further."""
        return "steps" in self._ending() and self.path(WEIGHTS["last"]).exists()

    @property
    def complete(self) -> bool:
        """Whether the model was trained with the number of steps in the settings, or stopped early."""
        return self.finished and self._ending()["steps"] == self.steps

    @property
    def has_moved_files(self) -> bool:
        """Whether no file of a longer training waits to be moved."""
        return "moving" not in self._ending()

    def weights(self, which: str | int = "last") -> dict[str, Tensor]:
        """The trained weights, checked against their hash.

        Args:
            which: `last`, `best` for the lowest validation loss, or a step of --keep-weights.
        """
        return read_weights("last" if self.is_last(which) else which, self._ending(), self.path)

    def is_last(self, which: str | int | None) -> bool:
        """Whether these are the last weights: `last`, None, or the last step of the finished training."""
        return which in ("last", None) or (isinstance(which, int) and which == self._ending().get("step"))

    def sha256(self, which: str | int | None = None) -> str:
        """The SHA-256 of the last weights, or of those kept at a step; empty if there are none."""
        ending = self._ending()
        return ending.get("sha256" if self.is_last(which) else "", "") or ending.get("kept", {}).get(
            str(which), ""
        )

    def history(self) -> list[dict[str, Any]]:
        """The logged steps in order; those of a longer training that has not ended are left out."""
        last = self._ending().get("step", 2**53)
        return [line for line in self.logged() if line["step"] <= last]

    def logged(self) -> list[dict[str, Any]]:
        """All logged steps, of a longer training too; an incomplete last line from a killed process is left out."""
        path, remedy = self.folder / "history.jsonl", "Delete the line, or restore the file from a copy."
        if not path.exists():
            return []
        lines = []
        for number, line in enumerate(read_file(path).split(b"\n")[:-1], start=1):
            where = f"{path}, line {number}"
            lines.append(parse_json(line, where, remedy=remedy))
            require_schema(lines[-1], HISTORY_LINE, where, remedy=remedy)
        return lines

    @property
    def plan(self) -> dict[str, Any] | None:
        """The plan that repeats the run; None if its method or dataset was made in Python."""
        path = self.path("plan.json")
        return read_json(path, PLAN) if path.exists() else None

    def versions(self) -> dict[str, str]:
        """Versions, platform and device of the training; empty if there is no versions.json."""
        path = self.path("versions.json")
        return read_json(path, VERSIONS) if path.exists() else {}

    def scores(self, steps: int | None = None) -> Scores:
        """The scores of the last weights, or of those kept at a step, with the latest value of each."""
        steps = None if self.is_last(steps) else steps
        every = read_scores(self.path("scores.json"))
        return Scores(score for score in every if score.get("steps") == steps)

    def add_scores(self, scores: list[dict[str, Any]]) -> None:
        """Adds scores; one replaces an old one with equal metric, protocol, seed, evaluation, dataset and step."""
        with only_writer(self.folder):
            write_json(self.path("scores.json"), merged(read_scores(self.path("scores.json")), scores))


def create_folder(folder: Path) -> None:
    """Creates the folder of a run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder} cannot be created ({error.strerror}). Choose another folder.") from None


def check_new_folder(folder: Path) -> None:
    """Raises if a folder for a new run is a file or contains other files."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file. Choose a folder for the run.")
    if folder.exists() and any(entry for entry in folder.iterdir() if not entry.name.startswith(".")):
        raise ValueError(f"{folder} is not empty and is not a run folder. Choose a new or empty folder.")
