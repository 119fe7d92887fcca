"""Numbers that renaming and moving code must not change: `python benchmarks/frozen_numbers.py --write`.

Every method is trained for 20 steps on one CPU thread, and two methods of every family are scored. Where the processor
and torch are the same, losses are compared bit for bit and scores to 1e-9; elsewhere losses closely.
tests/test_frozen_numbers.py compares; without `--write` this script prints what differs.
"""

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from unbraid.evaluation.evaluate import evaluate
from unbraid.objectives import Normal
from unbraid.runs.model import load
from unbraid.runs.run_dataset import training_dataset
from unbraid.schedules import Linear
from unbraid.studies.plan import Plan

TABLE = Path(__file__).parents[1] / "tests" / "frozen_numbers.json"
STEPS = 20
ROWS = {"batch_size": 16, "steps": STEPS, "seed": 0}
SMALL = {**ROWS, "architecture": "mlp-small"}
SPRITES = {"image_size": 28, **SMALL}
DIGITS = {"digits": "bundled", **SMALL}
VIEWS = {
    **DIGITS,
    "variant": "dc-bc",
    "backgrounds": "textures",
    "image_size": 32,
    "pairs": 200,
    "architecture": "conv",
}
GRASS = {**DIGITS, "grass": "painted", "patches": 100}
TARGET = {**GRASS, "common_dim": 4, "salient_dim": 2}
HUES = {**DIGITS, "correlate": ("digit", "hue")}
FAMILY = ("vae", "beta-vae", "annealed-vae", "factor-vae", "beta-tcvae", "dip-vae-i", "dip-vae-ii")
PAIRS = ("ada-gvae", "ada-ml-vae", "sw-vae")
PLANS: dict[str, Plan] = {
    **{name: Plan(name, "sprites", SPRITES) for name in (*FAMILY, *PAIRS)},
    **{name: Plan(name, "colored-mnist", DIGITS) for name in ("cnn", "cnn-beta-vae", "cai", "uai", "vfae")},
    "cvib": Plan("cvib", "credit", {**ROWS, "architecture": "mlp", "likelihood": Normal(1.0)}),
    "recon-contrast": Plan("recon-contrast", "colored-mnist", {**DIGITS, "predictive_dim": 8}),
    "intervention": Plan("intervention", "hue-mnist", {**HUES, "num_features": 3, "feature_dim": 2}),
    "sequential-intervention": Plan(
        "sequential-intervention",
        "hue-mnist",
        {
            **HUES,
            "num_features": 3,
            "feature_dim": 2,
            "feature_schedule": Linear(1.0, 3.0, 10),
            "beta": 2.0,
            "prune_kl": 0.01,
        }
        | {"freeze_learned": True, "beta_schedule": Linear(2.0, 1.0, 20), "subtract_entropy": False},
    ),
    "infogan": Plan("infogan", "hue-mnist", HUES),
    "infogan-cr": Plan("infogan-cr", "hue-mnist", {**HUES, "contrast_start_step": 0}),
    **{
        name: Plan(name, "grassy-mnist", TARGET)
        for name in ("contrast-vae", "cvae", "mm-cvae", "principled-contrast", "rb-vae", "srb-vae")
    },
    "svae": Plan("svae", "grassy-mnist", GRASS),
    "contrastive-pca": Plan("contrastive-pca", "hidden-groups", {"seed": 0}),
    **{name: Plan(name, "mixture", ROWS) for name in ("augmented-gin", "gin")},
    "ivae": Plan("ivae", "mixture", {**ROWS, "architecture": "mlp", "likelihood": Normal(1.0)}),
    **{
        name: Plan(name, "mnist-stl10", {**VIEWS, "batch_size": 16})
        for name in ("simclr", "supcon", "subinfomax", "supervised-subembeddings")
    },
    "independent-subembeddings": Plan(
        "independent-subembeddings",
        "mnist-stl10",
        {**VIEWS, "batch_size": 16, "lambda_correlation": 5.0, "lambda_dependence": 1.0},
    ),
}
LABELED = (
    "mig",
    "sap",
    "dci",
    "irs",
    "modularity",
    "factor_probe",
    "explicitness",
    "mcc",
    "reconstruction",
    "kl",
)
CONTRAST = ("salient:factor_probe", "background_norm", "background_distance", "class_accuracy", "salient:mig")
SCORED: dict[str, tuple[str, ...]] = {
    "factor-vae": (*LABELED, "factor_vae_score", "beta_vae_score", "info_mec"),
    "ada-gvae": (*LABELED, "gaussian_total_correlation", "active_dims"),
    "recon-contrast": ("group_accuracy", "factor_probe", "probe", "reconstruction"),
    "vfae": ("group_accuracy", "factor_probe", "probe"),
    "intervention": ("intervention_reversibility", "active_features", "sap", "factor_probe", "dci"),
    "infogan-cr": ("sap", "factor_probe", "mig"),
    "principled-contrast": CONTRAST,
    "mm-cvae": CONTRAST,
    "augmented-gin": ("codes:latent_mcc", "codes:latent_r2", "codes:spectrum", "inversion"),
    "ivae": ("latent_mcc", "latent_r2"),
    "subinfomax": ("probe", "disentanglement_gap"),
    "supervised-subembeddings": ("probe", "disentanglement_gap"),
}


def losses(name: str, folder: Path) -> list[list[float]]:
    """The terms of every step of a training, in their order."""
    run = PLANS[name].run(folder / name, device="cpu", log_every=1, quiet=True)
    rows = [
        [value for key, value in line.items() if key not in ("step", "seconds")] for line in run.history()
    ]
    if rows:
        return rows
    return [[float(weight.double().sum()) for weight in run.weights().values()]]  # in closed form


def scores(name: str, folder: Path) -> dict[str, float]:
    """The scores of a trained run, evidence left out."""
    model = load(folder / name, device="cpu")
    assert model.run is not None
    dataset = training_dataset(model.run)
    found = evaluate(
        model.method, dataset, SCORED[name], protocol="fast", num_samples=400, num_test_samples=200
    )
    return {entry["metric"]: entry["value"] for entry in found}


def measure(name: str) -> dict[str, Any]:
    """The losses of a method, and its scores where it has any."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            measured: dict[str, Any] = {"losses": losses(name, Path(folder))}
            if name in SCORED:
                measured["scores"] = scores(name, Path(folder))
    finally:
        torch.set_num_threads(threads)
    return measured


def machine() -> dict[str, str]:
    """What bits depend on."""
    return {"torch": torch.__version__.partition("+")[0], "cpu": torch.backends.cpu.get_cpu_capability()}


def difference(name: str, measured: dict[str, Any], table: dict[str, Any]) -> str | None:
    """One sentence about the first number that is not that of the table; None where all agree."""
    frozen, exact = table["runs"][name], table["machine"] == machine()
    losses = [
        (f"term {index} of step {step}", new, old)
        for step, (after, before) in enumerate(
            zip(measured["losses"], frozen["losses"], strict=True), start=1
        )
        for index, (new, old) in enumerate(zip(after, before, strict=True))
    ]
    scores = [(score, measured["scores"][score], value) for score, value in frozen.get("scores", {}).items()]
    if not exact:  # a score is a step function of codes: rounding on another machine can move it
        scores = []
    for what, new, old in losses:
        if not (new == old if exact else math.isclose(new, old, rel_tol=1e-2, abs_tol=1e-2)):
            return f"{name}: {what} was {old!r} and is {new!r}."
    for what, new, old in scores:
        if not math.isclose(new, old, rel_tol=1e-9, abs_tol=1e-9):
            return f"{name}: {what} was {old!r} and is {new!r}."
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table")
    asked = parser.parse_args()
    found = {}
    for name in PLANS:
        print(name, end=" ", flush=True)
        found[name] = measure(name)
    print()
    if asked.write:
        kept = json.loads(TABLE.read_text()) if TABLE.exists() else {}
        table = {"machine": machine(), "tests": kept.get("tests", {}), "runs": found}
        TABLE.write_text(json.dumps(table, separators=(",", ":")).replace('],"', '],\n"') + "\n")
        return
    table = json.loads(TABLE.read_text())
    differing = [said for name in PLANS if (said := difference(name, found[name], table))]
    print("\n".join(differing) or "No number has changed.")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
