"""Choice of λ1 and λ2 of the intervention autoencoder without labels, by the translation metric (App. C).

Unsupervised Disentanglement Learning by Intervention, 2021. The translation term is not in the loss here. The setting
with the lowest `relative` difficulty is chosen: `unbraid select STUDY --by relative-translation` ranks the settings.
The plain difficulty is lowest for a decoder that ignores its code. `paper` has two λ1 and three λ2, one seed and 30,000
steps, our reading. `quick` uses rendered sprites at 32×32 and a few settings.
"""

from unbraid.recipes.intervention import plans
from unbraid.studies import Plan, replace

METRICS = ("translation_difficulty", "active_features", "reconstruction")
STEPS = 30_000
PUBLISHED = {("translation_difficulty.relative",): None}  # adds this number to the table


def runs(scale: str) -> list[Plan]:
    """A grid of both weights on correlated factors, without L_diff in the loss."""
    quick = scale == "quick"
    grid = {
        f"intervention {cycle} {adversary}": {
            "lambda_cycle": cycle,
            "lambda_adv": adversary,
            "lambda_translation": 0.0,
            "architecture": "conv-factor-vae",
        }
        for cycle in ((0.25,) if quick else (0.25, 1.0))
        for adversary in ((1.0, 10.0) if quick else (10.0, 100.0, 1000.0))
    }
    both = plans("sprites", 100, 1, methods=grid) if quick else plans("dsprites", STEPS, 1, methods=grid)
    evaluation = {"num_samples": 2_000}  # training images: test images must not influence the choice
    return [
        replace(plan, metrics=METRICS, evaluation=evaluation) for plan in both if plan.options["correlate"]
    ]
