"""Whether the translation metric ranks FactorVAEs as metrics with labels do (Fig. 3).

Unsupervised Disentanglement Learning by Intervention, 2021: several weights, seeds and correlations on dSprites and
3D Shapes, here rooms instead of 3D Shapes. `python benchmarks/rank_correlation.py STUDY` computes Spearman's
coefficients and draws them. `quick` uses rendered sprites at 32×32 and a few models.
"""

from unbraid.recipes.intervention import STEPS, in_small_batches, plans
from unbraid.studies import Plan, replace

METRICS = ("dci", "sap", "irs", "translation_difficulty", "variation_predictability", "active_features")
GAMMAS = (1.0, 5.0, 10.0, 20.0, 40.0, 100.0)
PUBLISHED = {("translation_difficulty.relative",): None}  # adds this number to the table


def runs(scale: str) -> list[Plan]:
    """Six weights, ten seeds, both distributions and both datasets; at quick scale two weights and one seed."""
    if scale == "quick":
        return in_small_batches(models("sprites", 60, 1, GAMMAS[::3]), holdout_size=1_000)
    return [plan for data in ("dsprites", "rooms") for plan in models(data, STEPS, 10, GAMMAS)]


def models(data: str, steps: int, seeds: int, gammas: tuple[float, ...]) -> list[Plan]:
    """FactorVAEs with all metrics."""
    methods: dict[str, dict[str, object]] = {
        f"factor-vae {gamma}": {"gamma": gamma, "architecture": "conv-factor-vae"} for gamma in gammas
    }
    return [replace(plan, metrics=METRICS) for plan in plans(data, steps, seeds, methods=methods)]
