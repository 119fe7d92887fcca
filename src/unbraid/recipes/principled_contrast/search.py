"""Settings for Grassy-MNIST, judged on training digits and grass that training does not show.

Every method has two weights β and two networks. An earlier search (docs/results/p3_grassy.md) found the weights λ of
Eq. 8 too low at 1; its salient code costs as much as the common one here, or a fifth. It found those of MM-cVAE, which
are for images with five times as many numbers, too high. `quick` takes one of each.
"""

from typing import Any

from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast import ROWS, grassy

STEPS = 4_000
BETAS = {"linear": (0.1, 0.4), "nonlinear": (0.02, 0.1)}
NETWORKS = ("conv", "mlp")
OWN: dict[str, list[dict[str, Any]]] = {
    "Eq. 8": [{"lambda_c": 10.0, "lambda_z": 10.0, "salient_cost": cost} for cost in (1.0, 0.2)],
    "MM-cVAE": [{"match": 1e3, "zero": 1e2}, {"match": 1e2, "zero": 10.0}],
}
HELD_OUT = {"samples": 0, "test_samples": 0, "on": {"part": "validation", "per_digit": 200, "patches": 1500}}


def runs(scale: str) -> list[Plan]:
    """Every setting for both mixes, one seed."""
    plans = []
    for mix, betas in BETAS.items():
        plan = replace(grassy(mix, scale=scale, steps=STEPS), seed=0)
        plan = replace(plan, scoring=HELD_OUT) if scale == "paper" else plan
        settings = [{"beta": beta, "architecture": network} for beta in betas for network in NETWORKS]
        for setting in settings if scale == "paper" else settings[:1]:
            for row, (method, fixed) in ROWS.items():
                if row != "Eq. 7":
                    own = OWN.get(row, [{}])
                    plans += [replace(plan, method=method, **(fixed | setting | more)) for more in own]
    return plans
