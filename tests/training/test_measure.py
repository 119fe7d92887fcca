"""Measurements through training, src/unbraid/training/measure.py."""

from pathlib import Path
from unittest.mock import patch

from unbraid import Plan
from unbraid.runs import Run

OPTIONS = {"steps": 6, "batch_size": 4, "set_size": 3, "seed": 0}


def trained(folder: Path, method: str = "augmented-gin", **options: object) -> Run:
    with patch("unbraid.training.measure.MEASURE_EVERY", 2), patch("unbraid.training.measure.SAMPLE", 50):
        return Plan(method, "mixture", OPTIONS | options).run(folder, device="cpu", quiet=True, log_every=1)


def test_a_flow_logs_its_informative_dimensions_every_so_many_steps(tmp_path: Path) -> None:
    lines = trained(tmp_path / "run").history()
    assert [line["step"] for line in lines if "knee" in line] == [2, 4, 6]
    assert all(0 <= line["above_noise"] <= 10 for line in lines if "knee" in line)
    assert not any(name.startswith("validation") for line in lines for name in line)


def test_held_out_observations_are_measured_too(tmp_path: Path) -> None:
    lines = trained(tmp_path / "run", val_fraction=0.1, val_every=100).history()
    measured = [line for line in lines if "knee" in line]
    assert len(measured) == 3 and all(
        {"validation.knee", "validation.above_noise"} <= line.keys() for line in measured
    )


def test_measuring_changes_no_weights(tmp_path: Path) -> None:
    measured = trained(tmp_path / "measured").weights()
    with patch("unbraid.training.measure.MEASURE_EVERY", 1000):
        plain = Plan("augmented-gin", "mixture", OPTIONS).run(tmp_path / "plain", device="cpu", quiet=True)
    assert all((value == measured[name]).all() for name, value in plain.weights().items())


def test_other_methods_are_not_measured(tmp_path: Path) -> None:
    options = {"steps": 2, "batch_size": 4, "seed": 0, "image_size": 28, "architecture": "mlp-small"}
    with patch("unbraid.training.measure.MEASURE_EVERY", 1):
        run = Plan("vae", "sprites", options).run(tmp_path / "run", device="cpu", quiet=True, log_every=1)
    assert all("knee" not in line for line in run.history())
