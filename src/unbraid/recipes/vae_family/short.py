"""The sweep shortened to the third of six settings of each method, three seeds, 20,000 steps.

Not in a paper: those train 300,000 steps at a learning rate of 1e-4 for 50 seeds. Here the learning rate is 5e-4, and
AnnealedVAE, whose capacity grows over a third of its steps as in its paper, keeps 1e-4. Takes a few minutes on one GPU.
`quick` is the quick sweep. The results are in docs/results/vae_family.md.
"""

from unbraid.optimizers import Adam
from unbraid.recipes.vae_family import sweep
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace

STEPS = 20_000
METRICS = ("reconstruction", "kl", "mig", "sap", "factor_vae_score", "dci")
MIDDLE = {method: settings[2] for method, settings in sweep.SWEEPS.items()} | {
    "annealed-vae": {"capacity": Linear(0.0, 25.0, STEPS // 3), "optimizer": Adam(1e-4)}
}


def runs(scale: str) -> list[Plan]:
    """All methods, the slowest first, so that the GPU stays full to the end."""
    if scale == "quick":
        return sweep.runs(scale)
    base = replace(sweep.PAPER, steps=STEPS, optimizer=Adam(5e-4), metrics=METRICS)
    slow = ("factor-vae", "ada-gvae", "ada-ml-vae", "beta-tcvae")
    return [
        replace(base, method=method, seed=seed, **MIDDLE[method])
        for method in sorted(MIDDLE, key=lambda name: name not in slow)
        for seed in range(3)
    ]
