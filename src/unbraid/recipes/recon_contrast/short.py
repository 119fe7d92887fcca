"""Tables 3 and 4 on rendered rooms, shortened to three seeds of 10,000 steps at a learning rate of 5e-4.

Reconstruction for Disentanglement, Contrast for Invariance, 2022. The paper trains longer, on 3D Shapes and MPI3D, and
does not state the weights of SW-VAE. The weights here were chosen among nine settings on one seed that is not in the
tables (docs/results/p1_rooms.md). Each other method has the middle one of its published settings; AnnealedVAE has a
weight γ that suits few steps. `quick` is the quick Table 3.
"""

from unbraid.optimizers import Adam
from unbraid.recipes.recon_contrast import table3, table4
from unbraid.recipes.vae_family.short import MIDDLE
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace

STEPS = 10_000
SEEDS = range(3)
CHOSEN: dict[str, object] = {"beta": 4.0, "lambda_swap": 10.0}
BASELINES = MIDDLE | {"annealed-vae": {"capacity": Linear(0.0, 25.0, STEPS // 3), "gamma": 10.0}}


def runs(scale: str) -> list[Plan]:
    """SW-VAE with each divergence and without its warm-ups, and all baselines."""
    if scale == "quick":
        return table3.runs(scale)
    base = replace(table3.BASE, steps=STEPS, optimizer=Adam(5e-4))
    swapping = replace(base, **CHOSEN)
    both = table3.warm_ups(STEPS)
    plans = [replace(swapping, divergence=name, **both) for name in ("kl", "jsd", "jsd-moments")]
    plans += table4.plans(swapping)[:2]  # the third, with both warm-ups, is the first of these
    plans += [replace(base, method=method, **settings) for method, settings in BASELINES.items()]
    plans += [replace(base, method="factor-vae", **table3.BETA_FACTOR_TC[1])]
    return [replace(plan, seed=seed) for seed in SEEDS for plan in plans]
