"""Nearest neighbours by strand on photographs of flowers (Fig. 5).

Unsupervised Disentanglement Learning by Intervention, 2021: Oxford Flowers 102, a code of three strands of 16
dimensions, beside FactorVAE. `unbraid report RUN` draws the neighbours. `quick` takes rooms, which need no download.
"""

from unbraid.plan import Plan, replace

BASE = Plan(
    "intervention",
    "flowers102",
    {"architecture": "conv-flowers", "steps": 50_000, "batch": 64, "seed": 0},
    metrics=("reconstruction", "active_features", "translation_difficulty"),
    scoring={"samples": 2_000},
)


def runs(scale: str) -> list[Plan]:
    """Both methods."""
    base = BASE
    if scale == "quick":
        base = replace(BASE, data="rooms", architecture="conv", size=32, steps=60, scoring={"samples": 512})
    return [
        replace(base, features=3, dimensions=16, undo=1.0, adversary=100.0),  # App. C
        replace(base, method="factor-vae", codes=48, dimensions=16, gamma=40.0),
    ]
