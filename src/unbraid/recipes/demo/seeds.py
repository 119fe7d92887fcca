"""The demo over seeds: whether each of the five systems is ahead of its plain model at that scale.

Not in a paper. The runs of `unbraid demo` with three seeds, or ten at the scale `paper`, from 6 on: all settings and
all numbers were fixed before any of those was run. docs/results/demo.md says what came out.
"""

from unbraid.plan import Plan
from unbraid.recipes.demo import plans


def runs(scale: str) -> list[Plan]:
    """Every system and its plain model for each seed."""
    return [plan for seed in range(6, 9 if scale == "quick" else 16) for plan in plans(seed)]
