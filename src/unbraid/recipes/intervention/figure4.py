"""Importance of dimensions and traversals with the hues of floor and wall correlated (Fig. 4).

Unsupervised Disentanglement Learning by Intervention, 2021: the intervention autoencoder and FactorVAE with γ = 40 on
3D Shapes, here on rooms. At `paper` scale the runs are those of Table 2. `unbraid report RUN` draws both figures.
`quick` uses small rooms.
"""

from unbraid.recipes.intervention import ROOMS_STEPS, SEEDS, at_lengths, plans, settings_of
from unbraid.studies import Plan, replace


def runs(scale: str) -> list[Plan]:
    """Both methods on correlated factors."""
    quick = scale == "quick"
    chosen = {name: settings_of("rooms", ROOMS_STEPS)[name] for name in ("factor-vae 40", "intervention")}
    both = plans("rooms", 100 if quick else ROOMS_STEPS, 1 if quick else SEEDS, methods=chosen)
    correlated = [plan for plan in both if plan.options["correlate"]]
    if quick:
        return [replace(plan, image_size=32, holdout_size=500, train_size=20_000) for plan in correlated]
    return [plan for plan in at_lengths(correlated) if "steps" not in plan.evaluation]
