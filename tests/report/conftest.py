"""One small trained run for all tests of the report."""

from pathlib import Path

import pytest

from unbraid.data.dataset import Dataset
from unbraid.evaluation.evaluate import evaluate
from unbraid.optimizers import Adam
from unbraid.runs.folder import Run
from unbraid.runs.model import Model, load
from unbraid.runs.run_dataset import training_dataset
from unbraid.studies.plan import Plan

PLAN = Plan(
    "beta-vae",
    "sprites",
    {
        "image_size": 32,
        "beta": 0.1,
        "latent_dim": 4,
        "architecture": "mlp",
        "steps": 20,
        "batch_size": 8,
        "optimizer": Adam(1e-3),
    },
)


@pytest.fixture(scope="package")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A β-VAE on sprites after a few steps, scored."""
    run = PLAN.run(tmp_path_factory.mktemp("report") / "run", quiet=True, device="cpu", log_every=5)
    method = load(run.folder, device="cpu").method
    run.add_scores(evaluate(method, training_dataset(run), ("reconstruction", "kl", "mig"), num_samples=200))
    return run


@pytest.fixture(scope="package")
def model(run: Run) -> Model:
    return load(run.folder, device="cpu")


@pytest.fixture(scope="package")
def dataset(run: Run) -> Dataset:
    return training_dataset(run)


@pytest.fixture
def folder(tmp_path: Path, run: Run) -> Path:
    """A copy of the run that a test may change."""
    import shutil

    return Path(shutil.copytree(run.folder, tmp_path / "copy"))
