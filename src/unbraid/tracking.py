"""Tracking: the lines of a run's history, told to TensorBoard, MLflow or Weights & Biases by their own libraries."""

import importlib
import json
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from unbraid.naming import choose
from unbraid.runs import Run, identity, write_json
from unbraid.settings import flatten


class Tracker:
    """Told each line of history; this one keeps it to itself."""

    library = ""
    _works = True

    def __enter__(self) -> "Tracker":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def log(self, line: Mapping[str, float | int]) -> None:
        """A line of history: step, seconds and terms. What goes wrong here is said once and stops no training."""
        if not self._works:
            return
        try:
            terms = {name: value for name, value in line.items() if name != "step"}
            self.send(int(line["step"]), terms)
        except Exception as error:
            self._works = False
            print(f"Tracking by {self.library} has stopped: {error}", file=sys.stderr, flush=True)

    def send(self, step: int, terms: Mapping[str, float | int]) -> None:
        """Hands the terms of a step on."""

    def close(self) -> None:
        """Says that no more lines come."""


class TensorBoard(Tracker):
    """Event files in the folder `tensorboard` of the run."""

    library = "tensorboard"

    def __init__(self, run: Run) -> None:
        library("tensorboard")
        writer = library("torch.utils.tensorboard").SummaryWriter
        history = run.history()
        self._writer = writer(
            str(run.folder / "tensorboard"), purge_step=history[-1]["step"] if history else 0
        )

    def send(self, step: int, terms: Mapping[str, float | int]) -> None:
        for name, value in terms.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class MLflow(Tracker):
    """A run of MLflow's, where its own settings say; the run folder remembers which, for a resume."""

    library = "mlflow"

    def __init__(self, run: Run) -> None:
        self._mlflow = library("mlflow")
        path = run.folder / "mlflow.json"
        known = json.loads(path.read_text())["run_id"] if path.exists() else None
        begun = self._mlflow.start_run(run_id=known, run_name=None if known else run.folder.name)
        if known is None:
            write_json(path, {"run_id": begun.info.run_id})
            settings = flatten(run.settings)
            self._mlflow.log_params({name: text[:500] for name, text in settings.items() if text})

    def send(self, step: int, terms: Mapping[str, float | int]) -> None:
        self._mlflow.log_metrics(dict(terms), step=step)

    def close(self) -> None:
        self._mlflow.end_run()


class WandB(Tracker):
    """A run of Weights & Biases; the same folder with the same settings goes on with the same run."""

    library = "wandb"

    def __init__(self, run: Run) -> None:
        name = identity({"folder": str(run.folder.resolve()), "settings": run.settings})
        self._run = library("wandb").init(
            id=name, resume="allow", name=run.folder.name, config=flatten(run.settings)
        )

    def send(self, step: int, terms: Mapping[str, float | int]) -> None:
        self._run.log(dict(terms), step=step)

    def close(self) -> None:
        self._run.finish()


TRACKERS: dict[str, type[Tracker]] = {"tensorboard": TensorBoard, "mlflow": MLflow, "wandb": WandB}


def check_tracker(name: str | None) -> None:
    """Raises with one sentence unless the tracker is known and its library installed; None is none."""
    if name is not None:
        library(choose("tracker", name, TRACKERS).library)


def open_tracker(name: str, run: Run) -> Tracker:
    """The tracker of that name for a run."""
    return choose("tracker", name, TRACKERS)(run)  # type: ignore[call-arg]


def library(name: str) -> ModuleType:
    """A library that Unbraid can do without, or one sentence on how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ValueError(
            f"Tracking by {name} needs its library: install it with `pip install {name}`, or leave out --track."
        ) from None
