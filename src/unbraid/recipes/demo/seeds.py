"""The demo over seeds: the five systems and their baselines at the demo's scale.

Not in a paper. The runs of `unbraid demo` with three seeds, or ten at the scale `paper`, from 9 on. All settings and
scores were fixed before any of these seeds was trained. docs/results/demo.md has the results, also of seeds 6 to 8.
"""

from unbraid.recipes.demo import plans
from unbraid.studies import Plan


def runs(scale: str) -> list[Plan]:
    """Each system and its baseline for each seed."""
    return [plan for seed in range(9, 12 if scale == "quick" else 19) for plan in plans(seed)]
