"""The distance of common codes over training, and the effect of its weight: Fig. 6, on linear Grassy-MNIST.

All runs log the distance, also those that do not minimize it. `python benchmarks/contrast_figures.py STUDY` draws both
charts.
"""

from unbraid.recipes.principled_contrast import grassy
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")
WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)  # 0 is Eq. 7; the paper's axis is not readable


def runs(scale: str) -> list[Plan]:
    """The baselines and the sweep, three seeds; at quick scale three weights and one seed."""
    plan, weights = grassy(scale=scale), WEIGHTS if scale != "quick" else (0.0, 1.0, 10.0)
    baselines = [replace(plan, method=method, log_w2=True) for method in ("cvae", "srb-vae")]
    sweep = [replace(plan, method="principled-contrast", lambda_z=weight) for weight in weights]
    seeds = 1 if scale == "quick" else 3
    return [replace(chosen, seed=seed) for chosen in (*baselines, *sweep) for seed in range(seeds)]
