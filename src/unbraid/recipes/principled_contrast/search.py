"""Settings for Grassy-MNIST, chosen on held-out training digits and grass.

Eq. 8 with an overlay decoder is changed in one setting at a time, and MM-cVAE has three pairs of weights: those of its
authors, 10⁴ and 10³, are for images with five times as many values. Earlier searches are in docs/results/p3_grassy.md.
`quick` uses two settings of each.
"""

from typing import Any

from unbraid.objectives import Normal
from unbraid.optimizers import Adam
from unbraid.recipes.principled_contrast import HEAVY, OVERLAY_DECODER, grassy, row
from unbraid.studies import Plan, replace

SCALES = ("quick", "short")
HELD_OUT = {
    "num_samples": 0,
    "num_test_samples": 0,
    "on": {"split": "validation", "per_digit": 200, "patches": 1500},
}
STEPS, FEWER = 8_000, 3_000  # of Eq. 8 and of MM-cVAE
HEAVIER = {"lambda_c": 10.0, "lambda_z": 10.0}
NO_SIGMOID = {"likelihood": Normal(0.5**0.5)}
SHALLOW = {"architecture": "conv-contrast"}
CHANGES: dict[str, tuple[dict[str, Any], ...]] = {
    "linear": (
        *({}, SHALLOW, SHALLOW | HEAVIER, SHALLOW | HEAVIER | {"precision": "float32"}),
        *(SHALLOW | HEAVIER | {"beta": beta} for beta in (0.1, 0.4, 1.0)),
        *(SHALLOW | HEAVIER | NO_SIGMOID, SHALLOW | HEAVIER | NO_SIGMOID | {"beta": 0.5}),
        *(SHALLOW | HEAVIER | {"optimizer": Adam(3e-3)}, SHALLOW | {"lambda_c": 1.0, "lambda_z": 1.0}),
        *(SHALLOW | {"lambda_z": 10.0}, SHALLOW | {"salient_dim": 16}),
    ),
    "nonlinear": (
        *(SHALLOW | HEAVIER | {"beta": beta} for beta in (0.03, 0.1, 0.3)),
        *(SHALLOW | HEAVIER | NO_SIGMOID | {"beta": 0.1}, {"beta": 0.1}),
    ),
}
WEIGHTS = (
    {"lambda_match": 10.0, "lambda_zero": 1.0},
    {"lambda_match": 1e2, "lambda_zero": 10.0},
    {"lambda_match": 1e3, "lambda_zero": 1e2},
)


def runs(scale: str) -> list[Plan]:
    """All settings for both mixes, one seed."""
    limit = 2 if scale == "quick" else None
    return [
        row(replace(plan, **change), method, row_settings | change)
        for mix, changes in CHANGES.items()
        for method, row_settings, steps, settings in (
            ("principled-contrast", HEAVY | OVERLAY_DECODER, STEPS, changes),
            ("mm-cvae", {}, FEWER, WEIGHTS),
        )
        for plan in [_held_out(mix, scale, steps)]
        for change in settings[:limit]
    ]


def _held_out(mix: str, scale: str, steps: int) -> Plan:
    plan = grassy(mix, scale=scale, steps=steps)
    return replace(plan, evaluation=HELD_OUT) if scale == "short" else plan
