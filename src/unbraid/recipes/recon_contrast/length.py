"""The length of training, chosen once on validation data: the plain CNN, UAI and recon-contrast at three lengths.

Not in the paper, which prints no length. Digits: 4, 16 and 64 thousand steps, evaluated as in `search` on held-out
training digits, on a background and in digit colors that are left out of training. Rooms: SW-VAE and both Ada-VAEs at
10, 30 and 100 thousand steps, on a seed that is in no table. The shortest length at which none of them still gains
serves all rows. `quick` has one length of a few steps.
"""

from unbraid.recipes.recon_contrast import readings, row
from unbraid.recipes.recon_contrast.search import SEED, folds, ood_validation
from unbraid.recipes.recon_contrast.table3 import CHOSEN_WEIGHTS, base, swapping
from unbraid.recipes.vae_family.sweep import SWEEPS
from unbraid.studies import Plan, replace

LENGTHS = {"quick": (50,), "paper": (4_000, 16_000, 64_000)}
ROOMS_LENGTHS = (10_000, 30_000, 100_000)


def runs(scale: str) -> list[Plan]:
    data, plans = ("colored-mnist",), []
    if scale == "paper":
        data = ("colored-mnist", "rotation-colored-mnist")
    for name in data:
        for steps in LENGTHS[scale]:
            plan = ood_validation(name, scale, steps)
            rows = [row(plan, "cnn"), row(plan, "uai")]
            rows += [row(plan, "recon-contrast", **pairs) for pairs in readings(name)]
            chosen = folds(name)[: 1 if scale == "quick" else None]
            plans += [replace(each, **fold) for each in rows for fold in chosen]
    return plans if scale == "quick" else [*plans, *rooms()]


def rooms() -> list[Plan]:
    """SW-VAE with KL, and the middle of the settings of both Ada-VAEs."""
    plans = []
    for steps in ROOMS_LENGTHS:
        plan = replace(base("paper"), steps=steps, seed=SEED)
        others = [replace(plan, method=name, **SWEEPS[name][2]) for name in ("ada-gvae", "ada-ml-vae")]
        plans += [swapping(replace(plan, **CHOSEN_WEIGHTS))[0], *others]
    return plans
