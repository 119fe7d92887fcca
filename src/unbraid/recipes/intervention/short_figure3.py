"""Fig. 3 shortened to 24 FactorVAEs per dataset: 10,000 steps on dSprites and 5,000 on rooms.

Unsupervised Disentanglement Learning by Intervention, 2021: whether the translation metric ranks models as metrics with
labels do. `python benchmarks/rank_correlation.py STUDY` computes Spearman's coefficients and draws them;
`python benchmarks/metric_robustness.py STUDY` tests how they depend on the metric's settings. `quick` is the quick
Fig. 3.
"""

from unbraid.recipes.intervention import SHORT, figure3
from unbraid.studies import Plan

PUBLISHED = figure3.PUBLISHED


def runs(scale: str) -> list[Plan]:
    """Six weights, two seeds, both distributions and both datasets."""
    if scale == "quick":
        return figure3.runs(scale)
    return [
        plan
        for data in ("dsprites", "rooms")
        for plan in figure3.models(data, SHORT[data], 2, figure3.GAMMAS)
    ]
