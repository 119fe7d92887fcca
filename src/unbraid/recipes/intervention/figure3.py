"""Whether the translation metric ranks models as metrics with labels do: FactorVAEs of all sorts (Fig. 3).

Unsupervised Disentanglement Learning by Intervention, 2021: different weights, seeds and relations of factors, on
dSprites and 3D Shapes, in whose place rooms stand here. `python benchmarks/rank_correlation.py STUDY` computes
Spearman's coefficients and draws them. `quick` takes rendered sprites at 32×32 and a few models.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.intervention import STEPS, in_small_batches, plans

METRICS = ("dci", "sap", "irs", "translation_difficulty", "variation_predictability", "active_features")
GAMMAS = (1.0, 5.0, 10.0, 20.0, 40.0, 100.0)
PUBLISHED = {("translation_difficulty.relative",): None}  # shown too


def runs(scale: str) -> list[Plan]:
    """Six weights, ten seeds, both laws, each dataset; two weights and a seed at quick scale."""
    if scale == "quick":
        return in_small_batches(models("sprites", 60, 1, GAMMAS[::3]), hold_out=1_000)
    return [plan for data in ("dsprites", "rooms") for plan in models(data, STEPS, 10, GAMMAS)]


def models(data: str, steps: int, seeds: int, gammas: tuple[float, ...]) -> list[Plan]:
    """FactorVAEs with all scores."""
    methods: dict[str, dict[str, object]] = {
        f"factor-vae {gamma}": {"gamma": gamma, "architecture": "conv-factor-vae"} for gamma in gammas
    }
    return [replace(plan, metrics=METRICS) for plan in plans(data, steps, seeds, methods=methods)]
