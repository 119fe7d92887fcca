"""Nearest neighbors by strand on photographs of flowers (Fig. 5).

Unsupervised Disentanglement Learning by Intervention, 2021: Oxford Flowers 102 and a code of three strands of 16
dimensions, with FactorVAE as baseline. `unbraid report RUN` draws the neighbors. `quick` uses rooms.
"""

from unbraid.studies import Plan, replace

BASE = Plan(
    "intervention",
    "flowers102",
    {"architecture": "conv-flowers", "steps": 50_000, "batch_size": 64, "seed": 0},
    metrics=("reconstruction", "active_features", "translation_difficulty"),
    evaluation={"num_samples": 2_000},
)


def runs(scale: str) -> list[Plan]:
    """Both methods."""
    base = BASE
    if scale == "quick":
        base = replace(
            BASE, data="rooms", architecture="conv", image_size=32, steps=60, evaluation={"num_samples": 512}
        )
    return [
        replace(base, num_features=3, feature_dim=16, lambda_cycle=1.0, lambda_adv=100.0),  # App. C
        replace(base, method="factor-vae", latent_dim=48, feature_dim=16, gamma=40.0),
    ]
