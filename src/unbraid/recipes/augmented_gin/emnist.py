"""Augmented and supervised GIN on EMNIST's digits, the dataset of the paper.

Self-supervised Disentangled Representation Learning, 2021, Sec. 4.3 and Figs. 2 to 10. The settings are those of
`figure2`, one seed of each; all scales need EMNIST's official file, or a smaller file of its format.
"""

from unbraid.recipes.augmented_gin.figure2 import augmented, on_both_splits, supervised
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
PUBLISHED = {("augmented-gin", "codes:spectrum"): 20.0}  # "nearly 20 latent variables", Sec. 4.3


def runs(scale: str) -> list[Plan]:
    """Both methods, one seed."""
    return on_both_splits([_on_emnist(plan) for plan in (augmented(scale), supervised(scale))])


def _on_emnist(plan: Plan) -> Plan:
    options = {name: value for name, value in plan.options.items() if name != "digits"}
    return Plan(plan.method, "emnist", options, plan.metrics, plan.evaluation)
