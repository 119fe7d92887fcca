"""Numbers that renaming and moving code must not change: `python benchmarks/frozen_numbers.py --write`.

Every method is trained for 20 steps on one CPU thread, and two methods of every family are scored. The losses are
compared bit for bit where the processor and torch are the same, and closely elsewhere. tests/test_frozen_numbers.py
compares; without `--write` this script prints what differs.
"""

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from unbraid.evaluate import evaluate
from unbraid.model import load
from unbraid.objectives import Normal
from unbraid.plan import Plan
from unbraid.reopen import dataset_of
from unbraid.schedules import Linear

TABLE = Path(__file__).parents[1] / "tests" / "frozen_numbers.json"
STEPS = 20
ROWS = {"batch": 16, "steps": STEPS, "seed": 0}
SMALL = {**ROWS, "architecture": "mlp-small"}
SPRITES = {"size": 28, **SMALL}
DIGITS = {"digits": "bundled", **SMALL}
VIEWS = {
    **DIGITS,
    "variant": "dc-bc",
    "backgrounds": "textures",
    "size": 32,
    "pairs": 200,
    "architecture": "conv",
}
GRASS = {**DIGITS, "grass": "painted", "patches": 100}
TARGET = {**GRASS, "common": 4, "salient": 2}
HUES = {**DIGITS, "correlate": ("digit", "hue")}
FAMILY = ("vae", "beta-vae", "annealed-vae", "factor-vae", "beta-tcvae", "dip-vae-i", "dip-vae-ii")
PAIRS = ("ada-gvae", "ada-ml-vae", "sw-vae")
PLANS: dict[str, Plan] = {
    **{name: Plan(name, "sprites", SPRITES) for name in (*FAMILY, *PAIRS)},
    **{name: Plan(name, "colored-mnist", DIGITS) for name in ("cnn", "cnn-beta-vae", "cai", "uai", "vfae")},
    "cvib": Plan("cvib", "credit", {**ROWS, "architecture": "mlp", "likelihood": Normal(1.0)}),
    "recon-contrast": Plan("recon-contrast", "colored-mnist", {**DIGITS, "predictive": 8}),
    "intervention": Plan("intervention", "hue-mnist", {**HUES, "features": 3, "dimensions": 2}),
    "intervention-in-turn": Plan(
        "intervention",
        "hue-mnist",
        {**HUES, "features": 3, "dimensions": 2, "free": Linear(1, 3, 10), "bottleneck": 2.0, "least": 0.01}
        | {"settled": True, "opening": Linear(2, 1, 20), "above_entropy": False},
    ),
    "infogan": Plan("infogan", "hue-mnist", HUES),
    "infogan-cr": Plan("infogan-cr", "hue-mnist", {**HUES, "start": 0}),
    **{
        name: Plan(name, "grassy-mnist", TARGET)
        for name in ("contrast-vae", "cvae", "mm-cvae", "principled-contrast", "rb-vae", "srb-vae")
    },
    "svae": Plan("svae", "grassy-mnist", GRASS),
    "contrastive-pca": Plan("contrastive-pca", "hidden-groups", {"seed": 0}),
    **{name: Plan(name, "mixture", ROWS) for name in ("augmented-gin", "gin")},
    "ivae": Plan("ivae", "mixture", {**ROWS, "architecture": "mlp", "likelihood": Normal(1.0)}),
    **{
        name: Plan(name, "mnist-stl10", {**VIEWS, "batch": 16})
        for name in ("simclr", "supcon", "subinfomax", "supervised-subembeddings")
    },
}
LABELED = ("mig", "sap", "dci", "irs", "modularity", "leak", "explicitness", "mcc", "reconstruction", "kl")
CONTRAST = ("salient:leak", "background_norm", "background_distance", "class_accuracy", "salient:mig")
SCORED: dict[str, tuple[str, ...]] = {
    "factor-vae": (*LABELED, "factor_vae_score", "beta_vae_score", "info_mec"),
    "ada-gvae": (*LABELED, "gaussian_total_correlation", "active_codes"),
    "recon-contrast": ("group_accuracy", "leak", "probe", "reconstruction"),
    "vfae": ("group_accuracy", "leak", "probe"),
    "intervention": ("undone", "active_features", "sap", "leak", "dci"),
    "infogan-cr": ("sap", "leak", "mig"),
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
    dataset = dataset_of(model.run)
    found = evaluate(model.method, dataset, SCORED[name], protocol="fast", samples=400, test_samples=200)
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
    frozen = table["runs"][name]
    exact = table["machine"] == machine()
    pairs = [
        (f"term {place} of step {step}", new, old)
        for step, (after, before) in enumerate(
            zip(measured["losses"], frozen["losses"], strict=True), start=1
        )
        for place, (new, old) in enumerate(zip(after, before, strict=True))
    ]
    if exact or name not in SCORED:  # a score is a step function of codes: rounding can move it
        pairs += [
            (score, measured["scores"][score], value) for score, value in frozen.get("scores", {}).items()
        ]
    for what, new, old in pairs:
        if not (new == old if exact else math.isclose(new, old, rel_tol=1e-2, abs_tol=1e-2)):
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
