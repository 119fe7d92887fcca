"""The run folder: what is written, and how it is read back.

    run.json                what was asked for: method, data, draw, training (and the format's number)
    versions.json           what it ran on
    history.jsonl           a line for each logged step: terms in nats per image, seconds
    checkpoint.safetensors  weights, optimisers and generators, from which training goes on exactly
    model.safetensors       the weights at the end
    finished.json           at which step the run ended, of how many; a run that has it is finished
    best.safetensors        the weights with the best validation loss, where there was a validation split
    scores.json             one entry a score, with its protocol, sample sizes and seed
    figures/                pictures

JSON and safetensors only, so that any tool can read a run and reading one runs no code from it. Folders of one
format number stay readable by every later release with the same major version.
"""

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as tensor_bytes
from torch import Tensor

from unbraid.scores import Scores

FORMAT = 1
PARTS = ("method", "data", "training")


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all: whoever reads `path` finds the old content or the new, never a part."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(
            f"{path} could not be written ({error.strerror or error}), and what it held before is untouched: make "
            "room there, or choose a folder that exists and may be written to."
        ) from error


def write_json(path: Path, content: Any) -> None:
    """Writes JSON for people: indented, keys in the order given."""
    write_atomically(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Writes named tensors; the same tensors always give the same bytes."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, tensor_bytes(plain))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Reads named tensors, with one clear sentence when the file is damaged."""
    try:
        return load_tensors(path.read_bytes())
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(
            f"{path} is not a whole safetensors file ({error}): restore it or train again."
        ) from None


def versions(device: torch.device | str) -> dict[str, str]:
    """What a run ran on."""
    import numpy

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
    """A short name for what was asked for: the same settings, the same name."""
    canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


class Run:
    """One run folder."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        path = self.folder / "run.json"
        try:
            self.settings: dict[str, Any] = json.loads(path.read_text())
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.folder} is not a run folder, it has no run.json: give the folder that "
                "`unbraid train … --out` wrote."
            ) from None
        except NotADirectoryError:
            raise ValueError(f"{self.folder} is not a folder: give the folder of a run.") from None
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(
                f"{path} is not readable as JSON ({error}): restore it or train again."
            ) from None
        if not isinstance(self.settings, dict) or not {"format", *PARTS} <= set(self.settings):
            raise ValueError(f"{path} is not that of a run, it lacks one of {', '.join(PARTS)}: restore it.")
        if self.settings.get("format") != FORMAT:
            raise ValueError(
                f"{self.folder} is in run format {self.settings.get('format')}, and this Unbraid reads {FORMAT}: "
                "use the release named in its versions.json."
            )

    @classmethod
    def create(cls, folder: Path | str, settings: Mapping[str, Any], *, resume: bool) -> "Run":
        """The folder for these settings: a new one, or with `resume` the one that holds them already."""
        folder = Path(folder)
        settings = json.loads(
            json.dumps({"format": FORMAT, **settings})
        )  # as it will be read: lists, no tuples
        if not (folder / "run.json").exists():
            if folder.exists() and not folder.is_dir():
                raise ValueError(f"{folder} is a file: choose a folder for the run.")
            if folder.exists() and any(entry for entry in folder.iterdir() if not entry.name.startswith(".")):
                raise ValueError(f"{folder} holds other files and no run: choose an empty or a new folder.")
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ValueError(
                    f"{folder} cannot be made ({error.strerror}): choose another folder."
                ) from None
            write_json(folder / "run.json", settings)
            return cls(folder)
        run = cls(folder)
        if not resume:
            state = "a finished" if run.finished else "an unfinished"
            raise ValueError(
                f"{folder} already holds {state} run ({run.method_name} on {run.data_name}): go on with it by "
                "--resume (in Python resume=True), or choose another folder."
            )
        differing = sorted(_differences(run.settings, settings))
        longer = differing == ["training.steps"] and settings["training"]["steps"] > run.steps
        if differing and not longer:
            raise ValueError(
                f"{folder} holds another run: it differs in {', '.join(differing)}. Resume with the same settings "
                "(only more steps are allowed), or choose another folder."
            )
        if longer:  # the old weights stay until the new ones take their place
            write_json(folder / "run.json", settings)
            run = cls(folder)
        return run

    def finish(self, weights: Mapping[str, Tensor], step: int) -> None:
        """Writes the weights at the end; scores of earlier weights go."""
        (self.folder / "finished.json").unlink(missing_ok=True)
        (self.folder / "scores.json").unlink(missing_ok=True)
        write_tensors(self.folder / "model.safetensors", weights)
        write_json(self.folder / "finished.json", {"step": step, "steps": self.steps})

    def __repr__(self) -> str:
        state = "finished" if self.finished else "unfinished"
        said = f"{self.method_name} on {self.data_name}, seed {self.seed}"
        return f"Run({said}, {self.steps} steps, {state}, {self.folder})"

    def _repr_html_(self) -> str:
        from unbraid.display import run_html

        return run_html(self)

    @property
    def identity(self) -> str:
        return identity(self.settings)

    @property
    def method_name(self) -> str:
        return self.settings["method"]["name"]

    @property
    def data_name(self) -> str:
        return self.settings["data"]["name"]

    @property
    def seed(self) -> int:
        return self.settings["training"]["seed"]

    @property
    def steps(self) -> int:
        return self.settings["training"]["steps"]

    @property
    def finished(self) -> bool:
        """Whether the run has come to the end of the steps that its settings ask for, or stopped early."""
        try:
            ending = json.loads((self.folder / "finished.json").read_text())
        except (OSError, json.JSONDecodeError):
            return False
        return ending["steps"] == self.steps and (self.folder / "model.safetensors").exists()

    def weights(self, which: str = "model") -> dict[str, Tensor]:
        """The trained weights: `model` (at the end) or `best` (by the validation split)."""
        path = self.folder / f"{which}.safetensors"
        if not path.exists() or (which == "model" and not self.finished):
            raise FileNotFoundError(
                f"{self.folder} has no {path.name} yet: "
                + (
                    "train with a validation split."
                    if which == "best"
                    else "the run is unfinished; go on with --resume."
                )
            )
        return read_tensors(path)

    def history(self) -> list[dict[str, Any]]:
        """The logged steps in order; a line that a killed process left unfinished is passed over."""
        path = self.folder / "history.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def versions(self) -> dict[str, str]:
        """What the run ran on; empty when that was not kept."""
        path = self.folder / "versions.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def scores(self) -> Scores:
        """What the run has been scored, latest value of each score."""
        path = self.folder / "scores.json"
        return Scores(json.loads(path.read_text()) if path.exists() else [])

    def add_scores(self, scores: list[dict[str, Any]]) -> None:
        """Adds scores; one of the same metric, protocol, seed, scoring and data takes the place of the old one."""

        def key(score: Mapping[str, Any]) -> tuple[Any, ...]:
            return tuple(score.get(name) for name in ("metric", "protocol", "seed", "scoring", "on"))

        merged = {key(score): score for score in [*self.scores(), *scores]}
        write_json(self.folder / "scores.json", list(merged.values()))


class History:
    """Adds lines to history.jsonl; those after the step to go on from are dropped first."""

    def __init__(self, run: Run, step: int, also: Callable[[Mapping[str, Any]], None] | None = None) -> None:
        kept = [line for line in run.history() if line["step"] <= step]
        self._path = run.folder / "history.jsonl"
        write_atomically(self._path, "".join(json.dumps(line) + "\n" for line in kept).encode())
        self._began = time.monotonic() - (kept[-1]["seconds"] if kept else 0.0)
        self._also = also  # who else is told each line

    def add(self, step: int, terms: Mapping[str, float]) -> None:
        """A line of terms, with the seconds of training up to here."""
        seconds = round(time.monotonic() - self._began, 3)
        line = {"step": step, "seconds": seconds, **terms}
        with open(self._path, "a") as file:
            file.write(json.dumps(line) + "\n")
        if self._also is not None:
            self._also(line)


def _differences(a: Any, b: Any, path: str = "") -> set[str]:
    """The dotted names under which two settings differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        return set().union(
            *(_differences(a.get(key), b.get(key), f"{path}.{key}".lstrip(".")) for key in {*a, *b})
        )
    return set() if a == b else {path}
