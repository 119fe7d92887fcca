"""Digit and hue, correlated and independent (Table 3).

Unsupervised Disentanglement Learning by Intervention, 2021: MNIST's digits in the ten hues of 3D Shapes, a code of two
strands of 16 dimensions, SAP by logistic regression on strands. SAP is also high if one strand encodes both factors
and the other none, so each strand is probed too, and active features are counted. `paper` has ten seeds of 50,000
steps, our reading. Our sequential form, in which the first feature is trained alone and frozen before the second
becomes active, takes seven tenths of the steps; on independent factors it is also trained with a slower schedule.
`short` has three seeds of 10,000 steps: by the measured rates five minutes on one H200. `quick` uses scikit-learn's
bundled digits.
"""

from unbraid.optimizers import Adam
from unbraid.recipes.intervention import SEEDS, SHORT, SHORT_SEEDS
from unbraid.schedules import Linear, WarmupHold
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")
BASE = Plan(
    "intervention",
    "hue-mnist",
    {
        "architecture": "conv-digits",
        "digits": "mnist",
        "train_size": 60_000,
        "steps": 50_000,
        "batch_size": 64,
    },
    metrics=("sap", "z0:factor_probe", "z1:factor_probe", "strand_probes", "active_features"),
    evaluation={
        "protocol": "infogan_cr",
        "num_samples": 10_000,
        "on": {"split": "test", "correlate": (), "train_size": 0},
    },
)
METHODS: dict[str, dict[str, object]] = {
    "factor-vae 10": {"latent_dim": 32, "feature_dim": 16, "gamma": 10.0},
    "factor-vae 40": {"latent_dim": 32, "feature_dim": 16, "gamma": 40.0},
    "intervention": {"num_features": 2, "feature_dim": 16, "lambda_cycle": 1.0, "lambda_adv": 10.0},  # App. C
}
PUBLISHED = {
    ("factor-vae", "hue-mnist", "gamma=10.0", "sap"): 0.83,
    ("factor-vae", "hue-mnist", "gamma=40.0", "sap"): 0.72,
    ("intervention", "hue-mnist", "sap"): 0.74,
    ("factor-vae", "hue-mnist-digit-hue", "gamma=10.0", "sap"): 0.41,
    ("factor-vae", "hue-mnist-digit-hue", "gamma=40.0", "sap"): 0.47,
    ("intervention", "hue-mnist-digit-hue", "sap"): 0.70,
}


def runs(scale: str) -> list[Plan]:
    """Three methods and our form of one on both distributions, correlated factors first."""
    if scale == "short":
        return models(replace(BASE, steps=SHORT["hue-mnist"]), SHORT_SEEDS)
    if scale == "paper":
        return models(BASE, SEEDS)
    evaluation = {**BASE.evaluation, "num_samples": 1_000}
    return models(replace(BASE, digits="bundled", train_size=1_000, steps=60, evaluation=evaluation), 1)


def models(base: Plan, seeds: int) -> list[Plan]:
    """The paper's methods and the frozen form; on independent factors also with the slower schedule."""
    steps = base.options["steps"]
    every = METHODS | {"sequential-intervention frozen": frozen(steps)}
    slower = {"sequential-intervention slower": slower_frozen(steps)}
    return [
        *plans(base, seeds, every),
        *(plan for plan in plans(base, seeds, slower) if not plan.options["correlate"]),
    ]


def frozen(steps: int) -> dict[str, object]:
    """The first feature learns in the first two fifths of seven tenths of the steps."""
    return _frozen(steps * 7 // 10, steps * 21 // 100, steps * 28 // 100)


def slower_frozen(steps: int) -> dict[str, object]:
    """The weight of the KL divergence rises more slowly: the first feature learns in half of 84 hundredths."""
    return _frozen(steps * 84 // 100, steps * 35 // 100, steps * 42 // 100)


def _frozen(steps: int, rise: int, first_feature: int) -> dict[str, object]:
    """The settings by the last step, that at which β is highest, and that at which the second feature begins."""
    return METHODS["intervention"] | {
        "lambda_translation": 0.0,
        "steps": steps,
        "beta": 2.0,
        "beta_schedule": WarmupHold(3.0, 36.0, rise, first_feature, 1.0),
        "feature_schedule": Linear(1.0, 2.0, first_feature),
        "freeze_learned": True,
        "prune_kl": 0.1,
        "optimizer": Adam(1e-3),
    }


def plans(base: Plan, seeds: int, methods: dict[str, dict[str, object]]) -> list[Plan]:
    """The given methods on both distributions."""
    return [
        replace(base, method=name.split()[0], seed=seed, correlate=correlate, **options)
        for correlate in (("digit", "hue"), ())
        for seed in range(seeds)
        for name, options in methods.items()
    ]
