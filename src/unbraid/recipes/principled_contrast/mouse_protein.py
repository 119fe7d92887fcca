"""Trisomic and control mice separated by their proteins: the table of contrastive PCA's paper.

PCA is contrastive PCA with α = 0; α is swept. The settings of principled contrast, with one decoder and with an overlay
decoder, have the highest silhouette of two clusters, which needs no labels (docs/results/p3_mouse_protein.md). A seed
takes less than two minutes on a CPU.
"""

from unbraid.objectives import Normal
from unbraid.optimizers import Adam
from unbraid.recipes.principled_contrast import ALL, EQ_8
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")
ALPHAS = (0.0, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
SIZES = (2, 4)  # salient dimensions, and directions
PCA = Plan("contrastive-pca", "mouse-protein", {"salient_dim": 4}, ("salient:clustering",), ALL)
OVERLAY_DECODER = {"architecture": "overlay:linear+mlp-small", "beta": 0.5}
METRICS = ("salient:clustering", "common:clustering", "salient:background_norm", "common:background_distance")


def principled(steps: int) -> Plan:
    """Linear networks, for 405 rows."""
    options = {
        "architecture": "linear",
        "likelihood": Normal(1.0),
        "common_dim": 16,
        "salient_dim": 2,
        **EQ_8,
    }
    options |= {"lambda_c": 10.0, "beta": 1.0, "steps": steps, "batch_size": 64}
    options |= {"optimizer": Adam(3e-3), "lr_schedule": Linear(1.0, 0.0, steps)}
    return Plan("principled-contrast", "mouse-protein", options, METRICS, ALL)


def runs(scale: str) -> list[Plan]:
    """All α and ten seeds of Eq. 8 with both decoders, for two and four salient dimensions; three seeds at short scale,
    generated rows at quick scale."""
    if scale != "quick":
        sweep = [replace(PCA, alpha=alpha, salient_dim=size) for size in SIZES for alpha in ALPHAS]
        ours = [
            replace(principled(600), salient_dim=size, seed=seed, **decoder)
            for decoder in ({}, OVERLAY_DECODER)
            for size in SIZES
            for seed in range(10 if scale == "paper" else 3)
        ]
        return [*sweep, *ours]
    hidden = {"data": "hidden-groups", "observations": 200}
    sweep = [replace(PCA, alpha=alpha, salient_dim=2, **hidden) for alpha in (0.0, 1.0, 10.0)]
    return [
        *sweep,
        *(replace(principled(300), seed=0, **hidden, **decoder) for decoder in ({}, OVERLAY_DECODER)),
    ]
