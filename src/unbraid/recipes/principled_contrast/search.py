"""Settings for Grassy-MNIST, judged on training digits and grass that training does not show.

As many settings of the weight β for every method; those of Eqs. 7 and 8 have λ_C beside it. `quick` takes one of each.
"""

from typing import Any

from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast import ROWS, grassy
from unbraid.schedules import Linear

STEPS = 4_000
BETAS = {"linear": (0.25, 0.5, 1.0), "nonlinear": (0.05, 0.1, 0.25)}
OWN: list[dict[str, Any]] = [  # of Eq. 8, besides β
    {"lambda_c": 1.0},
    {"lambda_c": 3.0},
    {"lambda_c": 10.0, "tightening": Linear(0.0, 1.0, STEPS // 2)},
]
MORE: list[dict[str, Any]] = [  # beside the second β
    {"lambda_c": 3.0, "lambda_z": 5.0},
    {"lambda_c": 3.0, "salient": 12},
    {"lambda_c": 3.0, "architecture": "conv-contrast"},
]
HELD_OUT = {"samples": 0, "test_samples": 0, "on": {"part": "validation", "per_digit": 200, "patches": 1500}}


def runs(scale: str) -> list[Plan]:
    """Every setting for both mixes, one seed."""
    plans = []
    for mix, betas in BETAS.items():
        plan = replace(grassy(mix, scale=scale, steps=STEPS), seed=0)
        plan = replace(plan, scoring=HELD_OUT) if scale == "paper" else plan
        for beta in betas if scale == "paper" else betas[:1]:
            for row, (method, settings) in ROWS.items():
                if row != "Eq. 7":
                    own = OWN if row == "Eq. 8" else [{}]
                    plans += [replace(plan, method=method, beta=beta, **settings, **more) for more in own]
        if scale == "paper":
            ours = replace(plan, method="principled-contrast", beta=betas[1])
            plans += [replace(ours, **(ROWS["Eq. 8"][1] | more)) for more in MORE]
    return plans
