"""Accuracy of a shallow classifier on each expression: Table 2.

The paper's faces are AffectNet's; those of the data root's folder `expressions` may be others, and lack contempt.
Methods without contrast see target and background mixed, and have as many codes as the others have salient ones. Eq. 8
in two layers is ours.
"""

from typing import Any

from unbraid.plan import Plan, replace
from unbraid.recipes.principled_contrast import ALL, EQ_7, EQ_8, ROWS, faces, row

ALONE = ("dip-vae-ii", "svae", "beta-tcvae")
METHODS: list[tuple[str, dict[str, Any]]] = [
    *((method, {}) for method in (*ALONE, "rb-vae", "srb-vae")),
    *(("principled-contrast", settings) for settings in (EQ_7, EQ_8)),
]


def runs(scale: str) -> list[Plan]:
    """Every method, three seeds; or a quick look."""
    plan = replace(faces("expressions", scale=scale), metrics=("class_accuracy",), scoring=ALL)
    return [
        row(_alone(plan, method) if method in ALONE else plan, method, settings, seed=seed)
        for method, settings in (*METHODS, ROWS["Eq. 8, layers"])
        for seed in range(1 if scale == "quick" else 3)
    ]


def _alone(plan: Plan, method: str) -> Plan:
    """The same for a method without strands."""
    kept = {
        name: value for name, value in plan.options.items() if name not in ("common", "salient", "warm_up")
    }
    kept |= {"codes": plan.options["salient"]}
    if method == "beta-tcvae":
        kept |= {"beta": 4.0}  # of the total correlation alone
    if method == "dip-vae-ii":
        kept.pop("beta")
    return Plan(plan.method, plan.data, kept, plan.metrics, plan.scoring)


SCORE = "class_accuracy.per_class"
EXPRESSIONS = ("happy", "sad", "surprise", "fear", "disgust", "angry", "contempt")
TABLE = """
0.548 0.245 0.401 0.389 0.268 0.391 0.463
0.583 0.251 0.389 0.349 0.260 0.391 0.469
0.563 0.277 0.393 0.349 0.256 0.427 0.467
0.536 0.393 0.379 0.311 0.320 0.383 0.421
0.587 0.405 0.387 0.327 0.344 0.425 0.483
0.575 0.488 0.389 0.365 0.356 0.395 0.501
0.579 0.491 0.401 0.374 0.358 0.398 0.506
"""
PUBLISHED = {
    (method, "expressions", *(f"{name}={value}" for name, value in own.items()), f"{SCORE}.{face}"): float(
        value
    )
    for (method, own), line in zip(METHODS, TABLE.strip().splitlines(), strict=True)
    for face, value in zip(EXPRESSIONS, line.split(), strict=True)
}
