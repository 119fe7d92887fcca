"""Small trained runs for all tests of the explorer."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from unbraid.evaluation.evaluate import evaluate
from unbraid.objectives import Normal
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset
from unbraid.studies.plan import Plan

FEW = {"steps": 3, "batch_size": 4}
COLORED = {"digits": "bundled", **FEW}
PLANS = {
    "beta-vae": Plan("beta-vae", "sprites", {"image_size": 32, "latent_dim": 4, "beta": 0.1, **FEW}),
    "wide": Plan("beta-vae", "sprites", {"image_size": 32, "latent_dim": 4, "architecture": "mlp", **FEW}),
    "contrast": Plan("contrast-vae", "faces", {"image_size": 28, "architecture": "conv-contrast", **FEW}),
    "layer-norm": Plan(
        "contrast-vae", "faces", {"image_size": 28, "architecture": "conv-contrast-layer", **FEW}
    ),
    "cvib": Plan("cvib", "colored-mnist", {"latent_dim": 4, "architecture": "mlp-small", **COLORED}),
    "cnn": Plan("cnn", "colored-mnist", {"architecture": "mlp-small", **COLORED}),
    "flow": Plan("augmented-gin", "mixture", FEW),
}


@pytest.fixture(scope="package")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """A run by its name above, trained when it is first asked for."""
    folder = tmp_path_factory.mktemp("explore")

    @cache
    def run(name: str) -> Run:
        return PLANS[name].run(folder / name, quiet=True, device="cpu")

    return run


@pytest.fixture(scope="package")
def run(runs: Callable[[str], Run]) -> Run:
    """A β-VAE on sprites after a few steps, scored."""
    run = runs("beta-vae")
    how: dict[str, Any] = {"num_samples": 200, "num_test_samples": 100, "protocol": "fast"}
    run.add_scores(
        evaluate(load(run.folder, device="cpu").method, training_dataset(run), ("kl", "dci"), **how)
    )
    return run


@pytest.fixture(scope="package")
def tabular(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A β-VAE on a table whose columns have different units."""
    folder = tmp_path_factory.mktemp("table")
    lines = [f"{2e6 + 1e5 * n},{0.5 + n % 3}" for n in (0, 3, 1, 7, 5, 2)]
    (folder / "loans.csv").write_text("\n".join(["income,rate", *lines]))
    options = {"latent_dim": 2, "architecture": "mlp-small", "likelihood": Normal(), **FEW}
    return Plan("beta-vae", str(folder / "loans.csv"), options).run(folder / "run", device="cpu", quiet=True)


@pytest.fixture
def folder(tmp_path: Path, run: Run) -> Path:
    """A copy of the run that a test may change."""
    import shutil

    return Path(shutil.copytree(run.folder, tmp_path / "copy"))
