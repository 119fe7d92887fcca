"""Runs of a few steps, to be exported."""

import pytest

from unbraid.export.package import Package, columns_of
from unbraid.model import load
from unbraid.objectives import Normal
from unbraid.plan import Plan
from unbraid.runs import Run

SMALL = {"steps": 2, "batch": 4, "architecture": "mlp-small"}
LOANS = """age,income,paid,sex
31,2000000.5,yes,f
45,3100000.25,no,m
22,1500000,yes,m
60,9000000,no,f
33,2222222,yes,f
"""


@pytest.fixture(scope="session")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A β-VAE of sprites, with scores."""
    plan = Plan("beta-vae", "sprites", {"size": 32, "codes": 3, **SMALL, "architecture": "conv"})
    run = plan.run(tmp_path_factory.mktemp("runs") / "pictured", device="cpu", quiet=True)
    score = {"metric": "mig", "protocol": "bins=20", "value": 0.25, "n": 100, "n_test": 0, "seed": 0}
    run.add_scores([score | {"seconds": 0.1, "evidence": {"per_factor": [0.25]}}])
    return run


@pytest.fixture(scope="session")
def tabular(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A VFAE of a table, whose class and nuisance are named."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "loans.csv").write_text(LOANS)
    options = {"label": "paid", "nuisances": ("sex",), "z1": 3, "z2": 2, "likelihood": Normal()} | SMALL
    plan = Plan("vfae", str(folder / "loans.csv"), options)
    return plan.run(folder / "run", device="cpu", quiet=True)


@pytest.fixture(scope="session")
def predicting(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A plain CNN of sprites, which predicts and has no decoder."""
    plan = Plan("cnn", "sprites", {"size": 32, "features": 3, **SMALL})
    return plan.run(tmp_path_factory.mktemp("runs") / "predicting", device="cpu", quiet=True)


@pytest.fixture(scope="session")
def flowing(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A GIN of rows, whose decoder is its inverse."""
    plan = Plan("gin", "mixture", {"steps": 30, "batch": 64, "architecture": "mlp"})
    return plan.run(tmp_path_factory.mktemp("runs") / "flowing", device="cpu", quiet=True)


def packed(run: Run) -> Package:
    """What is exported of a run."""
    return Package(load(run.folder, device="cpu"), run, columns_of(run, None))
