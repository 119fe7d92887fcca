"""λ1 and λ2 of the intervention autoencoder, chosen without labels: by the translation metric, before it enters the
loss (App. C).

Unsupervised Disentanglement Learning by Intervention, 2021. The setting with the lowest `relative` difficulty is the
one to take: `unbraid select STUDY --by translation` names it. The plain one is lowest where nothing is decoded. `quick`
takes a few settings on rendered sprites at 32×32.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.intervention import STEPS, plans

METRICS = ("translation_difficulty", "active_features", "reconstruction")
PUBLISHED = {("translation_difficulty.relative",): None}  # shown too


def runs(scale: str) -> list[Plan]:
    """A grid of both weights on correlated factors, without L_diff in the loss."""
    quick = scale == "quick"
    grid = {
        f"intervention {undo} {adversary}": {
            "undo": undo,
            "adversary": adversary,
            "translation": 0.0,
            "architecture": "conv-factor-vae",
        }
        for undo in ((0.25,) if quick else (0.25, 1.0, 4.0))
        for adversary in ((1.0, 10.0) if quick else (1.0, 10.0, 100.0))
    }
    found = plans("sprites", 100, 1, methods=grid) if quick else plans("dsprites", STEPS, 3, methods=grid)
    scoring = {"samples": 2_000}  # of what was trained on: nothing that tests may choose
    return [replace(plan, metrics=METRICS, scoring=scoring) for plan in found if plan.options["correlate"]]
