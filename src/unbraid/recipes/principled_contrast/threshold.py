"""How hard nonlinear Grassy-MNIST is by its threshold, from 0 to 0.5; the paper's is 0.3.

The paper says that the threshold sets the difficulty and shows one.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast import grassy, rows


def runs(scale: str) -> list[Plan]:
    """cVAE and Eq. 8, three seeds; or a quick look at two thresholds."""
    thresholds, seeds = ((0.0, 0.1, 0.2, 0.3, 0.4, 0.5), 3) if scale == "paper" else ((0.0, 0.3), 1)
    plan = grassy("nonlinear", scale=scale)
    return [
        run
        for threshold in thresholds
        for run in rows(replace(plan, threshold=threshold), "cVAE", "Eq. 8", seeds=seeds)
    ]
