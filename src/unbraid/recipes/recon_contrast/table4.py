"""SW-VAE without a warm-up, with the first, and with both (Table 4).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 4: 3D Shapes; here also rendered rooms.
"""

from unbraid.recipes.recon_contrast.table3 import BASE, METRICS, warm_ups
from unbraid.studies import Plan, replace


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        evaluation = {"protocol": "fast", "num_samples": 2000, "num_test_samples": 1000}
        return plans(replace(BASE, image_size=32, steps=300, seed=0, evaluation=evaluation))
    return [
        plan
        for data in ("rooms", "shapes3d")
        for seed in range(5)
        for plan in plans(replace(BASE, data=data, seed=seed))
    ]


def plans(base: Plan) -> list[Plan]:
    """Without warm-ups, with the first, with both."""
    both = warm_ups(base.options["steps"])
    none = dict.fromkeys(both)
    return [replace(base, **(none | dict(list(both.items())[:count]))) for count in range(3)]


TABLE = """
    0.492 0.096 0.661 0.902 0.697
    0.512 0.126 0.674 0.944 0.781
    0.716 0.156 0.784 0.996 0.919
"""
PUBLISHED = {
    (
        "sw-vae",
        "shapes3d",
        f"swap_schedule={plan.options['swap_schedule']}, k_schedule={plan.options['k_schedule']}",
        metric,
    ): (float(value))
    for plan, line in zip(plans(BASE), TABLE.strip().splitlines(), strict=True)
    for metric, value in zip(METRICS, line.split(), strict=True)
}
