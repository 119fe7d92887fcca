"""A study of a few tiny runs."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unbraid.recipes import Recipe
from unbraid.studies.plan import Plan, replace
from unbraid.studies.study import study

BASE = Plan(
    "beta-vae",
    "sprites",
    {"image_size": 16, "latent_dim": 3, "architecture": "mlp-small", "steps": 3, "batch_size": 4},
    metrics=("reconstruction", "kl", "mig"),
    evaluation={"num_samples": 60},
)
PLANS = (
    *(replace(BASE, beta=beta, seed=seed) for beta in (1.0, 4.0) for seed in (0, 1)),
    *(replace(BASE, method="ada-gvae", seed=seed) for seed in (0, 1)),
)
BROKEN = replace(BASE, method="annealed-vae", gamma=-1.0)
PUBLISHED = {("beta-vae", "sprites", "beta=4.0", "mig"): 0.2135, ("ada-gvae", "mig"): 0.45}


def small_study(folder: Path, plans: Sequence[Plan] = (*PLANS, BROKEN), name: str = "mine.py") -> Path:
    """Runs the study and returns its folder."""
    recipe = Recipe(name, "A small study.", tuple(plans), PUBLISHED, from_command_line=name.endswith(".py"))
    study(recipe, folder, device="cpu", quiet=True)
    return folder


def table(folder: Path) -> set[tuple[str, ...]]:
    """The scores of a study, to compare with those of another study."""
    with open(folder / "results.csv") as file:
        return {
            tuple(row[name] for name in ("run", "seed", "metric", "value")) for row in csv.DictReader(file)
        }


def record(method: str, seed: int, value: float, **other: Any) -> dict[str, Any]:
    """One row of results.csv."""
    common = {"data": "sprites", "on": "", "settings": "{}", "metric": "mig", "protocol": ""}
    common |= {"higher_is_better": True}
    sizes = {"n": 10, "n_test": 0, "seconds": 0.1, "steps": 3, "unbraid": "0.1.0", "torch": "2"}
    sizes |= {"evaluation": "", "weights": "", "recipe": "mine.py", "commit": ""}
    return {
        "method": method,
        "seed": seed,
        "value": value,
        "run": f"{method}-{seed}",
        **common,
        **sizes,
        **other,
    }
