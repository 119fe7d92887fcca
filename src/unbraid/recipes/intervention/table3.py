"""Digit and hue, independent and correlated (Table 3).

Unsupervised Disentanglement Learning by Intervention, 2021: MNIST's digits in the ten hues of 3D Shapes, a code of
two strands of 16 dimensions, SAP by logistic regression on strands, ten seeds. SAP is also high if one strand encodes
both factors and the other none, so each strand is probed too. `quick` uses scikit-learn's bundled digits.
"""

from unbraid.studies import Plan, replace

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
    """Three methods on both distributions."""
    quick = scale == "quick"
    base = (
        replace(
            BASE,
            digits="bundled",
            train_size=1_000,
            steps=60,
            evaluation={**BASE.evaluation, "num_samples": 1_000},
        )
        if quick
        else BASE
    )
    return plans(base, 1 if quick else 10, METHODS)


def plans(base: Plan, seeds: int, methods: dict[str, dict[str, object]]) -> list[Plan]:
    """The given methods on both distributions."""
    return [
        replace(base, method=name.split()[0], seed=seed, correlate=correlate, **options)
        for seed in range(seeds)
        for correlate in ((), ("digit", "hue"))
        for name, options in methods.items()
    ]
