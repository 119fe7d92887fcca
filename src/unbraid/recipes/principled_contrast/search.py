"""Settings for Grassy-MNIST, judged on training digits and grass that training does not show.

One thing at a time is changed of Eq. 8 in two layers, and MM-cVAE is given three pairs of weights: its authors', 10⁴
and 10³, are for images with five times as many numbers. Earlier searches are in docs/results/p3_grassy.md. `quick`
takes two of each.
"""

from typing import Any

from unbraid.objectives import Normal
from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast import HEAVY, LAYERS, grassy, row

HELD_OUT = {"samples": 0, "test_samples": 0, "on": {"part": "validation", "per_digit": 200, "patches": 1500}}
STEPS, FEWER = 8_000, 3_000  # of Eq. 8, and of MM-cVAE
HEAVIER = {"lambda_c": 10.0, "lambda_z": 10.0}
NO_SIGMOID = {"likelihood": Normal(0.5**0.5)}
SHALLOW = {"architecture": "conv-contrast"}
CHANGES: dict[str, tuple[dict[str, Any], ...]] = {
    "linear": (
        *({}, SHALLOW, SHALLOW | HEAVIER, SHALLOW | HEAVIER | {"precision": "float32"}),
        *(SHALLOW | HEAVIER | {"beta": beta} for beta in (0.1, 0.4, 1.0)),
        *(SHALLOW | HEAVIER | NO_SIGMOID, SHALLOW | HEAVIER | NO_SIGMOID | {"beta": 0.5}),
        *(SHALLOW | HEAVIER | {"optimiser": Adam(3e-3)}, SHALLOW | {"lambda_c": 1.0, "lambda_z": 1.0}),
        *(SHALLOW | {"lambda_z": 10.0}, SHALLOW | {"salient": 16}),
    ),
    "nonlinear": (
        *(SHALLOW | HEAVIER | {"beta": beta} for beta in (0.03, 0.1, 0.3)),
        *(SHALLOW | HEAVIER | NO_SIGMOID | {"beta": 0.1}, {"beta": 0.1}),
    ),
}
WEIGHTS = ({"match": 10.0, "zero": 1.0}, {"match": 1e2, "zero": 10.0}, {"match": 1e3, "zero": 1e2})


def runs(scale: str) -> list[Plan]:
    """Every setting for both mixes, one seed."""
    most = None if scale == "paper" else 2
    return [
        row(replace(plan, **change), method, own | change)
        for mix, changes in CHANGES.items()
        for method, own, steps, tried in (
            ("principled-contrast", HEAVY | LAYERS, STEPS, changes),
            ("mm-cvae", {}, FEWER, WEIGHTS),
        )
        for plan in [_held_out(mix, scale, steps)]
        for change in tried[:most]
    ]


def _held_out(mix: str, scale: str, steps: int) -> Plan:
    plan = grassy(mix, scale=scale, steps=steps)
    return replace(plan, scoring=HELD_OUT) if scale == "paper" else plan
