"""All methods of the VAE family over their published hyperparameters and many seeds.

Locatello et al., 2019, Challenging Common Assumptions, arXiv:1811.12359, Table 2 (unsupervised methods, 50 seeds on
dSprites), and Locatello et al., 2020, Weakly-Supervised Disentanglement Without Compromises, arXiv:2002.02886 (Ada-GVAE
and Ada-ML-VAE, on pairs that share all but k factors). `quick` uses one setting per method and two seeds on rendered
sprites at 32×32.
"""

from unbraid.optimizers import Adam
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace

PAPER = Plan(
    "vae",
    "dsprites",
    {"steps": 300_000, "batch_size": 64, "latent_dim": 10},
    metrics=(
        "reconstruction",
        "kl",
        "mig",
        "sap",
        "dci",
        "irs",
        "factor_vae_score",
        "beta_vae_score",
        "modularity",
    ),
    evaluation={"num_samples": 10_000, "num_test_samples": 5_000},
)
SWEEPS: dict[str, list[dict[str, object]]] = {
    "beta-vae": [{"beta": beta} for beta in (1.0, 2.0, 4.0, 6.0, 8.0, 16.0)],
    "annealed-vae": [{"capacity": Linear(0.0, c, 100_000)} for c in (5.0, 10.0, 25.0, 50.0, 75.0, 100.0)],
    "factor-vae": [{"gamma": gamma} for gamma in (10.0, 20.0, 30.0, 40.0, 50.0, 100.0)],
    "dip-vae-i": [{"lambda_od": od, "lambda_d": 10 * od} for od in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)],
    "dip-vae-ii": [{"lambda_od": od, "lambda_d": od} for od in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)],
    "beta-tcvae": [{"beta": beta} for beta in (1.0, 2.0, 4.0, 6.0, 8.0, 10.0)],
    "ada-gvae": [
        {"beta": beta, "pair_rule": "disentanglement-lib"} for beta in (1.0, 2.0, 4.0, 6.0, 8.0, 16.0)
    ],
    "ada-ml-vae": [
        {"beta": beta, "pair_rule": "disentanglement-lib"} for beta in (1.0, 2.0, 4.0, 6.0, 8.0, 16.0)
    ],
}
QUICK: dict[str, dict[str, object]] = {
    "vae": {},
    "beta-vae": {"beta": 4.0},
    "annealed-vae": {
        "gamma": 10.0,
        "capacity": Linear(0.0, 25.0, 400),
    },  # γ = 1000 learns nothing in 500 steps
    "factor-vae": {"gamma": 10.0},
    "dip-vae-i": {"lambda_od": 10.0, "lambda_d": 100.0},
    "dip-vae-ii": {"lambda_od": 10.0, "lambda_d": 10.0},
    "beta-tcvae": {"beta": 4.0},
    "ada-gvae": {"beta": 1.0},
    "ada-ml-vae": {"beta": 1.0},
}


def runs(scale: str) -> list[Plan]:
    """The paper's sweep, or its quick version."""
    if scale == "paper":
        return [
            replace(PAPER, method=method, seed=seed, **settings)
            for method, sweep in SWEEPS.items()
            for settings in sweep
            for seed in range(50)
        ]
    quick = Plan(
        "vae",
        "sprites",
        {
            "image_size": 32,
            "steps": 500,
            "batch_size": 64,
            "optimizer": Adam(1e-3),
        },  # a high learning rate for 500 steps
        metrics=("reconstruction", "kl", "mig"),
        evaluation={"num_samples": 2_000},
    )
    return [
        replace(quick, method=method, seed=seed, **settings)
        for method, settings in QUICK.items()
        for seed in range(2)
    ]
