"""The sweep thinned to a few minutes of one GPU: the third of six settings of every method, three seeds, 20,000 steps.

Not in a paper: those train 300,000 steps at a rate of 1e-4 for 50 seeds. Here the rate is 5e-4, and AnnealedVAE, whose
capacity grows over a third of its steps as it does in the paper, keeps 1e-4. `quick` is the quick sweep.
docs/results/vae_family.md says what came out.
"""

from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.recipes.vae_family import sweep
from unbraid.schedules import Linear

STEPS = 20_000
METRICS = ("reconstruction", "kl", "mig", "sap", "factor_vae_score", "dci")
MIDDLE = {method: settings[2] for method, settings in sweep.SWEEPS.items()} | {
    "annealed-vae": {"capacity": Linear(0.0, 25.0, STEPS // 3), "optimiser": Adam(1e-4)}
}


def runs(scale: str) -> list[Plan]:
    """Every method; those that take longest first, so that none is left alone on the device at the end."""
    if scale == "quick":
        return sweep.runs(scale)
    base = replace(sweep.PAPER, steps=STEPS, optimiser=Adam(5e-4), metrics=METRICS)
    slow = ("factor-vae", "ada-gvae", "ada-ml-vae", "beta-tcvae")
    return [
        replace(base, method=method, seed=seed, **MIDDLE[method])
        for method in sorted(MIDDLE, key=lambda name: name not in slow)
        for seed in range(3)
    ]
