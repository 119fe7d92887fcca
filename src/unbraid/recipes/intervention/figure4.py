"""Importance of codes and traversals with the hues of floor and wall correlated (Fig. 4).

Unsupervised Disentanglement Learning by Intervention, 2021: the intervention autoencoder beside FactorVAE with γ = 40
on 3D Shapes; here on rooms. `unbraid report RUN` draws both figures. `quick` takes small rooms.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.intervention import STEPS, plans, settings_of


def runs(scale: str) -> list[Plan]:
    """Both methods on correlated factors."""
    quick = scale == "quick"
    chosen = {name: settings_of("rooms", STEPS)[name] for name in ("factor-vae 40", "intervention")}
    both = plans("rooms", 100 if quick else STEPS, 1 if quick else 10, methods=chosen)
    correlated = [plan for plan in both if plan.options["correlate"]]
    if quick:
        return [replace(plan, size=32, hold_out=500, resample=20_000) for plan in correlated]
    return correlated
