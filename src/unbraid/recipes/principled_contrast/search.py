"""Settings of Eq. 8 for Grassy-MNIST, chosen on held-out training digits and grass, equally for both decoders.

One decoder and the overlay decoder have one grid: both λ, β, its warm-up and the depth of the network, one seed. With
the same settings for both, the further options `salient_beta_factor` and `lambda_schedule` are compared with their
absence over five seeds. MM-cVAE has three pairs of weights: those of its authors, 10⁴ and 10³, are for images with five
times as many values. Earlier searches are in docs/results/p3_grassy.md. `quick` uses two settings of each.
"""

from itertools import product
from typing import Any

from unbraid.recipes.principled_contrast import (
    EQ_8,
    NETWORK,
    OVERLAY_DECODER,
    PAPER_NETWORK,
    STEPS,
    grassy,
    row,
)
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace

SCALES = ("quick", "short")
HELD_OUT = {
    "num_samples": 0,
    "num_test_samples": 0,
    "on": {"split": "validation", "per_digit": 200, "patches": 1500},
}
FEWER = 3_000  # steps of MM-cVAE
DECODERS: tuple[dict[str, Any], ...] = (EQ_8, EQ_8 | OVERLAY_DECODER)
NETWORKS, WARM_UPS = (PAPER_NETWORK, NETWORK), (True, False)
BETAS, LAMBDAS = (0.2, 0.5, 2.0), (1.0, 3.0, 10.0)
GRID = [
    ({"beta": beta, "lambda_c": weight, "lambda_z": weight}, network, warm_up)
    for network, warm_up, beta, weight in product(NETWORKS, WARM_UPS, BETAS, LAMBDAS)
]
BASE = {"beta": 0.2, "lambda_c": 3.0, "lambda_z": 3.0}
SEEDS = range(1, 6)  # the grid has seed 0
WEIGHTS = (
    {"lambda_match": 10.0, "lambda_zero": 1.0},
    {"lambda_match": 1e2, "lambda_zero": 10.0},
    {"lambda_match": 1e3, "lambda_zero": 1e2},
)


def runs(scale: str) -> list[Plan]:
    """The grid and the further options for both decoders, and the weights of MM-cVAE, on both mixes."""
    limit = 2 if scale == "quick" else None
    return [plan for mix in ("linear", "nonlinear") for plan in _of_mix(mix, scale, limit)]


def _of_mix(mix: str, scale: str, limit: int | None) -> list[Plan]:
    plan = _held_out(mix, scale, STEPS[mix])
    growing = {"lambda_schedule": Linear(0.0, 1.0, STEPS[mix] // 2)}
    further: list[dict[str, Any]] = [] if scale == "quick" else [{}, {"salient_beta_factor": 0.2}, growing]
    found = [
        row(_with(plan, network, warm_up, scale), "principled-contrast", decoder | setting)
        for decoder in DECODERS
        for setting, network, warm_up in GRID[:limit]
    ]
    found += [
        row(plan, "principled-contrast", decoder | BASE | option, seed=seed)
        for decoder in DECODERS
        for option in further
        for seed in SEEDS
    ]
    return found + [row(_held_out(mix, scale, FEWER), "mm-cvae", weights) for weights in WEIGHTS[:limit]]


def _with(plan: Plan, network: str, warm_up: bool, scale: str) -> Plan:
    """The plan with a network, and with or without the warm-up of β."""
    options = dict(plan.options) | ({} if scale == "quick" else {"architecture": network})
    if not warm_up:
        options.pop("beta_schedule")
    return Plan(plan.method, plan.data, options, plan.metrics, plan.evaluation)


def _held_out(mix: str, scale: str, steps: int) -> Plan:
    plan = grassy(mix, scale=scale, steps=steps)
    return replace(plan, evaluation=HELD_OUT) if scale == "short" else plan
