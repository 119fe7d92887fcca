"""Settings for Grassy-MNIST, judged on training digits and grass that training does not show.

Four for every method: with one decoder or with two layers, and two weights. Those are β, but for MM-cVAE, whose own
weights are for images with five times as many numbers. Earlier searches (docs/results/p3_grassy.md) found the weights λ
of Eq. 8 too low at 1. `quick` takes one of each.
"""

from typing import Any

from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast import LAYERS, ROWS, grassy, row

STEPS = 3_000
BETAS = {"linear": (0.2, 0.5), "nonlinear": (0.05, 0.1)}
SEARCHED = ("cVAE", "sRb-VAE", "Eq. 3", "MM-cVAE", "Eq. 8")
OWN: dict[str, dict[str, Any]] = {"Eq. 8": {"lambda_c": 10.0, "lambda_z": 10.0}}
HELD_OUT = {"samples": 0, "test_samples": 0, "on": {"part": "validation", "per_digit": 200, "patches": 1500}}


def runs(scale: str) -> list[Plan]:
    """Every setting for both mixes, one seed."""
    plans = []
    for mix in BETAS:
        plan = grassy(mix, scale=scale, steps=STEPS)
        plan = replace(plan, scoring=HELD_OUT) if scale == "paper" else plan
        for name in SEARCHED:
            method, fixed = ROWS[name]
            settings = [own | more for own in _weights(name, mix) for more in ({}, LAYERS)]
            chosen = settings if scale == "paper" else settings[:1]
            plans += [row(plan, method, fixed | setting) for setting in chosen]
    return plans


def _weights(name: str, mix: str) -> list[dict[str, Any]]:
    if name == "MM-cVAE":
        return [{"match": 1e2, "zero": 10.0}, {"match": 1e3, "zero": 1e2}]
    return [{"beta": beta, **OWN.get(name, {})} for beta in BETAS[mix]]
