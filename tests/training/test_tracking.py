"""Logging to other libraries, src/unbraid/training/tracking.py; the libraries are stood in for."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from unbraid.runs.folder import Run
from unbraid.studies.plan import Plan
from unbraid.training.tracking import Logger, check_logger, open_logger

PLAN = Plan(
    "beta-vae",
    "sprites",
    {"image_size": 32, "latent_dim": 3, "architecture": "mlp", "steps": 4, "batch_size": 4},
)
Told = list[tuple[Any, ...]]


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    module = ModuleType(name)
    module.__dict__.update(members)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """What each of three libraries is told."""
    heard: Told = []

    class Writer:
        def __init__(self, folder: str, purge_step: int) -> None:
            heard.append(("open", Path(folder).name, purge_step))

        def add_scalar(self, name: str, value: float, step: int) -> None:
            heard.append((step, name))

        def flush(self) -> None: ...

        def close(self) -> None:
            heard.append(("close",))

    def start_run(run_id: str | None, run_name: str | None) -> Any:
        heard.append(("open", run_id or run_name))
        return SimpleNamespace(info=SimpleNamespace(run_id="abc"))

    def log(terms: dict[str, float], step: int) -> None:
        heard.extend((step, name) for name in terms)

    def init(**how: Any) -> Any:
        heard.append(("open", how["name"], how["resume"]))
        return SimpleNamespace(log=log, finish=lambda: heard.append(("close",)))

    stand_in(monkeypatch, "tensorboard")
    stand_in(monkeypatch, "torch.utils.tensorboard", SummaryWriter=Writer)
    stand_in(
        monkeypatch,
        "mlflow",
        start_run=start_run,
        log_metrics=log,
        log_params=lambda settings: heard.append(("settings", settings["method.arguments.beta"])),
        end_run=lambda: heard.append(("close",)),
    )
    stand_in(monkeypatch, "wandb", init=init)
    return heard


def train(folder: Path, track: str | None, **how: Any) -> Run:
    return PLAN.run(folder, quiet=True, device="cpu", log_every=2, logger=track, **how)


@pytest.mark.parametrize("name", ["tensorboard", "mlflow", "wandb"])
def test_a_tracker_is_told_every_line_of_history(name: str, told: Told, tmp_path: Path) -> None:
    run = train(tmp_path / "run", name)
    assert told[0][0] == "open" and told[-1] == ("close",)
    lines = [entry for entry in told if isinstance(entry[0], int)]
    assert lines == [(line["step"], term) for line in run.history() for term in line if term != "step"]
    assert ("settings", "4.0") in told or name != "mlflow"


def test_mlflow_goes_on_with_its_run(told: Told, tmp_path: Path) -> None:
    run = train(tmp_path / "run", "mlflow")
    assert json.loads((run.folder / "mlflow.json").read_text()) == {"run_id": "abc"}
    told.clear()
    with open_logger("mlflow", run) as tracker:
        tracker.log({"step": 9, "loss": 1.0})
    assert told == [("open", "abc"), (9, "loss"), ("close",)]


@pytest.mark.parametrize("name", ["tensorboard", "mlflow", "wandb"])
def test_a_missing_library_is_said_before_the_run_begins(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=f"Install it with `pip install {name}`, or remove --logger"):
        train(tmp_path / "run", name)
    assert not (tmp_path / "run").exists()


def test_an_unknown_tracker_is_said() -> None:
    with pytest.raises(ValueError, match="no logger 'wanb'; did you mean wandb"):
        check_logger("wanb")


def test_a_tracker_that_fails_is_said_once_and_stops_no_training(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(Logger):
        library = "nothing"

        def log_metrics(self, step: int, terms: Any) -> None:
            raise ConnectionError("no network")

    tracker = Broken()
    for step in (1, 2):
        tracker.log({"step": step, "loss": 1.0})
    assert capsys.readouterr().err == "Logging to nothing has stopped: no network\n"
