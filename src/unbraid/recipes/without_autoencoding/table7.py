"""Degenerate solutions of orthogonality on digit class and location: Burns et al., 2021, Table 7.

The paper shows two runs of one setting: one with accuracies at chance ("random"), one in which both subembeddings
encode the location ("task difficulty"). The outcome depends on the seed; the scores `random`, `emptied` and `repeated`
of `disentanglement_gap` classify it.
"""

from unbraid.recipes.without_autoencoding.table3 import regularized
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """Six seeds; two at quick scale."""
    seeds = range(2 if scale == "quick" else 6)
    return [regularized(scale, "lambda_orthogonality", 0.1, "dc-dl", seed) for seed in seeds]
