"""One small trained run for all tests of the report."""

from pathlib import Path

import pytest

from unbraid.data.dataset import Dataset
from unbraid.evaluate import evaluate
from unbraid.model import Model, load
from unbraid.optimisers import Adam
from unbraid.plan import Plan
from unbraid.reopen import dataset_of
from unbraid.runs import Run

PLAN = Plan(
    "beta-vae",
    "sprites",
    {
        "size": 32,
        "beta": 0.1,
        "codes": 4,
        "architecture": "mlp",
        "steps": 20,
        "batch": 8,
        "optimiser": Adam(1e-3),
    },
)


@pytest.fixture(scope="package")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A β-VAE on sprites after a few steps, scored."""
    run = PLAN.run(tmp_path_factory.mktemp("report") / "run", quiet=True, device="cpu", log_every=5)
    method = load(run.folder, device="cpu").method
    run.add_scores(evaluate(method, dataset_of(run), ("reconstruction", "kl", "mig"), samples=200))
    return run


@pytest.fixture(scope="package")
def model(run: Run) -> Model:
    return load(run.folder, device="cpu")


@pytest.fixture(scope="package")
def dataset(run: Run) -> Dataset:
    return dataset_of(run)


@pytest.fixture
def folder(tmp_path: Path, run: Run) -> Path:
    """A copy of the run that a test may change."""
    import shutil

    return Path(shutil.copytree(run.folder, tmp_path / "copy"))
