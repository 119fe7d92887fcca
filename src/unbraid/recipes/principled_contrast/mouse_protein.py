"""Trisomic and control mice told apart by their proteins: the table of contrastive PCA's paper.

PCA is contrastive PCA with α = 0; α is swept. The settings of principled contrast, with one decoder and in two layers,
are those with the highest silhouette of two clusters, which asks for no label (docs/results/p3_mouse_protein.md). On a
CPU a seed takes under two minutes.
"""

from unbraid.objectives import Normal
from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast import ALL, EQ_8
from unbraid.schedules import Linear

ALPHAS = (0.0, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
SIZES = (2, 4)  # salient codes, and directions
PCA = Plan("contrastive-pca", "mouse-protein", {"salient": 4}, ("salient:clustering",), ALL)
LAYERS = {"layers": "mlp-small", "beta": 0.5}
METRICS = ("salient:clustering", "common:clustering", "salient:background_norm", "common:background_distance")


def principled(steps: int) -> Plan:
    """Linear networks, for 405 rows."""
    options = {"architecture": "linear", "likelihood": Normal(1.0), "common": 16, "salient": 2, **EQ_8}
    options |= {"lambda_c": 10.0, "beta": 1.0, "steps": steps, "batch": 64}
    options |= {"optimiser": Adam(3e-3), "rate": Linear(1.0, 0.0, steps)}
    return Plan("principled-contrast", "mouse-protein", options, METRICS, ALL)


def runs(scale: str) -> list[Plan]:
    """Every α and ten seeds of Eq. 8 in both forms, with two salient codes and with four; or a quick look at made-up
    groups."""
    if scale == "paper":
        sweep = [replace(PCA, alpha=alpha, salient=size) for size in SIZES for alpha in ALPHAS]
        ours = [
            replace(principled(600), salient=size, seed=seed, **layers)
            for layers in ({}, LAYERS)
            for size in SIZES
            for seed in range(10)
        ]
        return [*sweep, *ours]
    hidden = {"data": "hidden-groups", "observations": 200}
    sweep = [replace(PCA, alpha=alpha, salient=2, **hidden) for alpha in (0.0, 1.0, 10.0)]
    return [*sweep, *(replace(principled(300), seed=0, **hidden, **layers) for layers in ({}, LAYERS))]
