"""The threshold of nonlinear Grassy-MNIST from 0 to 0.5, which sets its difficulty; the paper uses 0.3."""

from unbraid.recipes.principled_contrast import grassy, rows
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """cVAE and Eq. 8, three seeds; at quick scale two thresholds and one seed."""
    thresholds, seeds = ((0.0, 0.1, 0.2, 0.3, 0.4, 0.5), 3) if scale != "quick" else ((0.0, 0.3), 1)
    plan = grassy("nonlinear", scale=scale)
    return [
        run
        for threshold in thresholds
        for run in rows(replace(plan, threshold=threshold), "cVAE", "Eq. 8", seeds=seeds)
    ]
