"""Logging of a run's history to TensorBoard, MLflow or Weights & Biases, by their own libraries."""

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from unbraid.files import read_json, write_json
from unbraid.runs import Run
from unbraid.settings import flatten, identity, lookup


class Logger:
    """Receives each line of history; this base class does nothing with it."""

    library = ""
    _works = True

    def __enter__(self) -> "Logger":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def log(self, line: Mapping[str, float | int]) -> None:
        """Logs a line of history: step, seconds and terms. An error is reported once and does not stop training."""
        if not self._works:
            return
        try:
            terms = {name: value for name, value in line.items() if name != "step"}
            self.log_metrics(int(line["step"]), terms)
        except Exception as error:
            self._works = False
            print(f"Logging to {self.library} has stopped: {error}", file=sys.stderr, flush=True)

    def log_metrics(self, step: int, terms: Mapping[str, float | int]) -> None:
        """Logs the terms of a step."""

    def close(self) -> None:
        """Ends the log."""


class TensorBoard(Logger):
    """Event files in the folder `tensorboard` of the run."""

    library = "tensorboard"

    def __init__(self, run: Run) -> None:
        library("tensorboard")
        writer = library("torch.utils.tensorboard").SummaryWriter
        history = run.logged()
        self._writer = writer(
            str(run.folder / "tensorboard"), purge_step=history[-1]["step"] if history else 0
        )

    def log_metrics(self, step: int, terms: Mapping[str, float | int]) -> None:
        for name, value in terms.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class MLflow(Logger):
    """An MLflow run, stored where MLflow is configured to. The run folder keeps its id for a resume."""

    library = "mlflow"

    def __init__(self, run: Run) -> None:
        self._mlflow = library("mlflow")
        path = run.folder / "mlflow.json"
        run_id = read_json(path, {"run_id": str})["run_id"] if path.exists() else None
        mlflow_run = self._mlflow.start_run(run_id=run_id, run_name=None if run_id else run.folder.name)
        if run_id is None:
            write_json(path, {"run_id": mlflow_run.info.run_id})
            settings = flatten(run.settings)
            self._mlflow.log_params({name: text[:500] for name, text in settings.items() if text})

    def log_metrics(self, step: int, terms: Mapping[str, float | int]) -> None:
        self._mlflow.log_metrics(dict(terms), step=step)

    def close(self) -> None:
        self._mlflow.end_run()


class WandB(Logger):
    """A Weights & Biases run. A resumed training continues the same run."""

    library = "wandb"

    def __init__(self, run: Run) -> None:
        name = identity({"folder": str(run.folder.resolve()), "settings": run.settings})
        self._run = library("wandb").init(
            id=name, resume="allow", name=run.folder.name, config=flatten(run.settings)
        )

    def log_metrics(self, step: int, terms: Mapping[str, float | int]) -> None:
        self._run.log(dict(terms), step=step)

    def close(self) -> None:
        self._run.finish()


LOGGERS: dict[str, type[Logger]] = {"tensorboard": TensorBoard, "mlflow": MLflow, "wandb": WandB}


def check_logger(name: str) -> None:
    """Raises unless the logger is known and its library is installed."""
    library(lookup("logger", name, LOGGERS).library)


def open_logger(name: str, run: Run) -> Logger:
    """The logger with that name, for a run."""
    return lookup("logger", name, LOGGERS)(run)  # type: ignore[call-arg]


def library(name: str) -> ModuleType:
    """An optional library; raises with the command that installs it if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ValueError(
            f"--logger {name} requires the library {name}. Install it with `pip install {name}`, or remove --logger."
        ) from None
