"""Why the zero-salient loss costs s: Eq. 7 on linear Grassy-MNIST, changed in one setting at a time.

`paper` has the paper's 78,000 steps at a constant learning rate and three seeds, `short` 20,000 steps, a rate that
decays to zero and two seeds. Settings that change s by themselves are run with λ_C = 0, too: what the loss costs is the
difference. `quick` is too short to compare settings.
"""

from typing import Any

from unbraid.recipes.principled_contrast import AS_PRINTED, EQ_7, METRICS, PAPER_NETWORK, PAPER_STEPS, grassy
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")
STEPS = {"quick": 20, "short": 20_000, "paper": PAPER_STEPS}
SEEDS = {"quick": 1, "short": 2, "paper": 3}
EQ_3 = {"lambda_c": 0.0}
# Each with λ_C = 0 and 1; the first is Eq. 3 and Eq. 7 as printed.
PAIRED: tuple[dict[str, Any], ...] = (
    {},
    {"batch_stats": "separate"},
    *({"architecture": f"{PAPER_NETWORK}-{norm}"} for norm in ("instance", "layer", "channel")),
    *({"beta": beta} for beta in (0.5, 4.0)),
)
STDS = ({"zero_salient_std": "separate-head"}, {"zero_salient_std": "none"})
WEIGHTS = ({"lambda_c": 0.05}, {"lambda_c": 0.2})


def runs(scale: str) -> list[Plan]:
    """Normalization, β, heads, weights, weights that grow over half of the steps or all, and fewer steps."""
    base, steps = _base(scale), STEPS[scale]
    growing = ({"lambda_schedule": Linear(0.0, 1.0, share)} for share in (steps // 2, steps))
    paired = [{**change, **weight} for change in PAIRED for weight in (EQ_3, {"lambda_c": 1.0})]
    plans = [replace(base, **change) for change in (*paired, *STDS, *WEIGHTS, *growing)]
    plans += [replace(_base(scale, steps // part), **change) for part in (2, 4) for change in paired[:2]]
    return [replace(plan, seed=seed) for plan in plans for seed in range(SEEDS[scale])]


def _base(scale: str, steps: int | None = None) -> Plan:
    """Eq. 7 as printed."""
    steps = steps or STEPS[scale]
    options: dict[str, Any] = {**EQ_7, "lambda_c": 1.0, "architecture": PAPER_NETWORK, "steps": steps}
    if scale == "quick":
        digits = {"digits": "bundled", "grass": "painted", "mix": "linear"}
        options |= {"beta": 2.0, "batch_size": 16, **digits}
        evaluation = {"num_samples": 200, "num_test_samples": 0}
        return Plan("principled-contrast", "grassy-mnist", options, METRICS, evaluation)
    rate = {} if scale == "paper" else {"lr_schedule": Linear(1.0, 0.0, steps)}
    return replace(grassy(scale="paper"), method="principled-contrast", **AS_PRINTED, **options, **rate)
