"""Short runs to export."""

import pytest

from tests.run_files import score_entry
from unbraid.export.bundle import ExportBundle
from unbraid.objectives import Normal
from unbraid.runs.folder import Run
from unbraid.runs.model import load
from unbraid.studies.plan import Plan

SMALL = {"steps": 2, "batch_size": 4, "architecture": "mlp-small"}
LOANS = """age,income,paid,sex
31,2000000.5,yes,f
45,3100000.25,no,m
22,1500000,yes,m
60,9000000,no,f
33,2222222,yes,f
"""


@pytest.fixture(scope="session")
def sprites(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A β-VAE with a score."""
    plan = Plan("beta-vae", "sprites", {"image_size": 32, "latent_dim": 3, **SMALL, "architecture": "conv"})
    run = plan.run(tmp_path_factory.mktemp("runs") / "sprites", device="cpu", quiet=True)
    run.add_scores([score_entry("mig", 0.25, protocol="bins=20", n=100, evidence={"per_factor": [0.25]})])
    return run


@pytest.fixture(scope="session")
def tabular(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A VFAE trained on a table with a label and a nuisance."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "loans.csv").write_text(LOANS)
    options = {
        "label": "paid",
        "nuisances": ("sex",),
        "z1_dim": 3,
        "z2_dim": 2,
        "likelihood": Normal(),
    } | SMALL
    plan = Plan("vfae", str(folder / "loans.csv"), options)
    return plan.run(folder / "run", device="cpu", quiet=True)


@pytest.fixture(scope="session")
def predicting(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A CNN, which predicts classes and has no decoder."""
    plan = Plan("cnn", "sprites", {"image_size": 32, "feature_dim": 3, **SMALL})
    return plan.run(tmp_path_factory.mktemp("runs") / "predicting", device="cpu", quiet=True)


@pytest.fixture(scope="session")
def flowing(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A flow on rows, whose decoder is its inverse."""
    plan = Plan("gin", "mixture", {"steps": 30, "batch_size": 64, "architecture": "mlp"})
    return plan.run(tmp_path_factory.mktemp("runs") / "flowing", device="cpu", quiet=True)


def packed(run: Run) -> ExportBundle:
    """The export bundle of a run."""
    return ExportBundle(load(run.folder, device="cpu"), run)
