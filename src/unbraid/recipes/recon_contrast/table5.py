"""Recon-contrast with its classifier trained separately, jointly and without the contrast, and the plain CNN (Table 5).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 5: Colored-MNIST, and Rotation-Colored-MNIST at
65°. `quick` uses scikit-learn's bundled digits and one seed, on Colored-MNIST only.
"""

from unbraid.recipes.recon_contrast.table1 import BASE, BOTH, OURS, SETTINGS, faster, quick
from unbraid.studies import Plan, replace

SCHEMES = ("cross-entropy", "joint", "separate")


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        return [quick(plan) for plan in plans(BASE)]
    return [
        replace(faster(plan), digits="mnist", split="train", seed=seed)
        for data in ("colored-mnist", "rotation-colored-mnist")
        for plan in plans(replace(BASE, data=data))
        for seed in range(5)
    ]


def plans(base: Plan) -> list[Plan]:
    """The plain CNN, then all schemes."""
    system = replace(base, method="recon-contrast", **SETTINGS["recon-contrast"], **OURS)
    return [replace(base, **SETTINGS["cnn"]), *(replace(system, scheme=scheme) for scheme in SCHEMES)]


TABLE = """
    0.932 0.680   0.821 0.653
    0.935 0.732   0.842 0.678
    0.980 0.904   0.873 0.823
"""
AT_65 = ("group_accuracy.accuracy_at.angle=+65", "group_accuracy.worst_at.angle=+65")
COLUMNS = [
    *(("colored-mnist", metric) for metric in BOTH),
    *(("rotation-colored-mnist", metric) for metric in AT_65),
]
PUBLISHED = {
    ("recon-contrast", data, f"scheme={scheme}", metric): float(value)
    for scheme, line in zip(SCHEMES, TABLE.strip().splitlines(), strict=True)
    for (data, metric), value in zip(COLUMNS, line.split(), strict=True)
}
