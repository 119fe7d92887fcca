"""The demo over seeds: whether each of the five systems is ahead of its plain model at that scale.

Not in a paper. The runs of `unbraid demo` with three seeds, or ten at the scale `paper`, from 3 on: no setting was
chosen on those. docs/results/demo.md says what came out.
"""

from unbraid.plan import Plan
from unbraid.recipes.demo import plans


def runs(scale: str) -> list[Plan]:
    """Every system and its plain model for each seed."""
    return [plan for seed in range(3, 6 if scale == "quick" else 13) for plan in plans(seed)]
