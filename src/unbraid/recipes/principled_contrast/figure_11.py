"""Clustering accuracy over the number of images: Fig. 11, on linear Grassy-MNIST.

1000, 2500 and 4986 of each digit, with as many patches of grass. `quick` takes bundled digits over painted grass, 40
and 120 of each.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast.table_1 import EQ_8, GRASSY
from unbraid.schedules import Linear


def runs(scale: str) -> list[Plan]:
    """sRb-VAE, which the paper's text has, and Eq. 8, three seeds; or a quick look."""
    if scale == "paper":
        plan, seeds, sizes = replace(GRASSY, digits="mnist", grass="photographs"), 3, (1000, 2500, 4986)
    else:
        short = {"steps": 300, "rate": Linear(1.0, 0.0, 300), "warm_up": Linear(0.0, 1.0, 150), "batch": 32}
        few = {"scoring": {"samples": 400, "test_samples": 0}, "digits": "bundled", "grass": "painted"}
        plan, seeds, sizes = replace(GRASSY, **few, **short), 1, (40, 120)
    return [
        replace(plan, method=method, per_digit=size, patches=size, seed=seed, **settings)
        for method, settings in (("srb-vae", {}), ("principled-contrast", EQ_8))
        for size in sizes
        for seed in range(seeds)
    ]
