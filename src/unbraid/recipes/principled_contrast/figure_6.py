"""The distance of common codes over training, and what its weight does: Fig. 6, on linear Grassy-MNIST.

Every run logs the distance, also those that do not minimise it; the weight λ_z is swept. Figs. 4, 5, 7, 8 and 10 are
drawn from these runs by `benchmarks/contrast_figures.py`. `quick` takes bundled digits over painted grass.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast.table_1 import EQ_8, GRASSY
from unbraid.schedules import Linear

WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)  # of them 0 is Eq. 7; the paper's axis cannot be read


def runs(scale: str) -> list[Plan]:
    """The baselines and the sweep, three seeds; or a quick look at three weights."""
    if scale == "paper":
        plan, seeds, weights = replace(GRASSY, digits="mnist", grass="photographs"), 3, WEIGHTS
    else:
        short = {"steps": 300, "rate": Linear(1.0, 0.0, 300), "warm_up": Linear(0.0, 1.0, 150), "batch": 64}
        few = {"scoring": {"samples": 400, "test_samples": 0}, "digits": "bundled", "grass": "painted"}
        plan, seeds, weights = replace(GRASSY, **few, **short), 1, (0.0, 1.0, 10.0)
    baselines = [replace(plan, method=method, log_w2=True) for method in ("cvae", "srb-vae")]
    sweep = [
        replace(plan, method="principled-contrast", **(EQ_8 | {"lambda_z": weight})) for weight in weights
    ]
    return [replace(chosen, seed=seed) for chosen in (*baselines, *sweep) for seed in range(seeds)]
