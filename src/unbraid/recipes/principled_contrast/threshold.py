"""How hard nonlinear Grassy-MNIST is by its threshold, from 0 to 0.5; the paper's is 0.3.

The paper says that the threshold sets the difficulty and shows one. `quick` takes bundled digits over painted grass.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast.table_1 import EQ_8, GRASSY
from unbraid.schedules import Linear


def runs(scale: str) -> list[Plan]:
    """cVAE and Eq. 8, three seeds; or a quick look at two thresholds."""
    nonlinear = replace(GRASSY, mix="nonlinear")
    if scale == "paper":
        plan, seeds = replace(nonlinear, digits="mnist", grass="photographs"), 3
        thresholds = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    else:
        short = {"steps": 300, "rate": Linear(1.0, 0.0, 300), "warm_up": Linear(0.0, 1.0, 150), "batch": 64}
        few = {"scoring": {"samples": 400, "test_samples": 0}, "digits": "bundled", "grass": "painted"}
        plan, seeds, thresholds = replace(nonlinear, **few, **short), 1, (0.0, 0.3)
    return [
        replace(plan, method=method, threshold=threshold, seed=seed, **settings)
        for method, settings in (("cvae", {}), ("principled-contrast", EQ_8))
        for threshold in thresholds
        for seed in range(seeds)
    ]
