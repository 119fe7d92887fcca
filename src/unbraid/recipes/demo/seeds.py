"""The demo over seeds: whether each of the five systems is ahead of its plain model at that scale.

Not in a paper. The runs of `unbraid demo` with three seeds, or ten at the scale `paper`, from 9 on: all settings and
all numbers were fixed before any of those was run. docs/results/demo.md says what came out, and what of seeds 6 to 8.
"""

from unbraid.plan import Plan
from unbraid.recipes.demo import plans


def runs(scale: str) -> list[Plan]:
    """Every system and its plain model for each seed."""
    return [plan for seed in range(9, 12 if scale == "quick" else 19) for plan in plans(seed)]
