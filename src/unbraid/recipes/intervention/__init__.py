"""Unsupervised Disentanglement Learning by Intervention, 2021: the shared datasets, methods and scores.

At `paper` scale the tables have ten seeds of 100,000 steps. The recipes `short-…` need less time: three seeds of 5,000
or 10,000 steps, with variants of the intervention autoencoder and the sequential intervention autoencoder, which is
ours.
"""

from collections.abc import Mapping, Sequence

from unbraid.optimizers import Adam
from unbraid.studies import Plan, replace

SCORES = ("dci", "sap", "irs")
STEPS = 100_000  # the paper gives none
SHORT, SEEDS = {"dsprites": 10_000, "rooms": 5_000, "hue-mnist": 10_000}, 3
BATCH = 64  # App. C
# Sizes of the training and test splits (App. B), and the correlated factors (Sec. 5.1).
DATA: dict[str, dict[str, object]] = {
    "dsprites": {"holdout_size": 50_000, "train_size": 200_000},
    "shapes3d": {"holdout_size": 50_000, "train_size": 100_000},
    "rooms": {"holdout_size": 50_000, "train_size": 100_000},
    "sprites": {"image_size": 32, "holdout_size": 5_000, "train_size": 20_000},
}
PAIRS = {
    "dsprites": ("pos_x", "scale"),
    "sprites": ("pos_x", "scale"),
    "shapes3d": ("floor_hue", "wall_hue"),
    "rooms": ("floor_hue", "wall_hue"),
}


def plans(
    data: str, steps: int, seeds: int, *, methods: dict[str, dict[str, object]] | None = None
) -> list[Plan]:
    """All methods on independent and on correlated factors, evaluated on held-out images by InfoGAN-CR's protocol."""
    base = Plan(
        "intervention",
        data,
        {"steps": steps, "batch_size": BATCH, **DATA[data]},
        metrics=(*SCORES, "active_features"),
        evaluation={"protocol": "infogan_cr", "num_samples": 0, "on": {"use_holdout": True}},
    )
    settings = settings_of(data, steps) if methods is None else methods
    return [
        replace(base, method=name.split()[0], seed=seed, correlate=correlate, **options)
        for seed in range(seeds)
        for correlate in ((), PAIRS[data])
        for name, options in settings.items()
    ]


def settings_of(data: str, steps: int) -> dict[str, dict[str, object]]:
    """The settings of each method's paper; for the intervention autoencoder those of App. C."""
    conv: dict[str, object] = {"architecture": "conv-factor-vae"}
    tcvae: dict[str, object] = {"beta": 6.0, "batch_size": 2048, "optimizer": Adam(1e-3)}
    return {
        "factor-vae 10": conv | {"gamma": 10.0},
        "factor-vae 40": conv | {"gamma": 40.0},
        # Fully connected on dSprites, as App. C says.
        "beta-tcvae": tcvae | {"architecture": "mlp" if data in ("dsprites", "sprites") else "conv"},
        "infogan-cr": {"contrast_start_step": round(0.9 * steps)},  # 288,000 of 322,560 steps in its paper
        "intervention": dict(conv),
    }


def shortened(data: str, steps: int) -> dict[str, dict[str, object]]:
    """`settings_of` for short trainings: a quarter of the steps for β-TCVAE, whose batches are large, and InfoGAN-CR's
    regularizer from half of the steps."""
    methods = settings_of(data, steps)
    methods["beta-tcvae"] |= {"steps": steps // 4}
    methods["infogan-cr"] |= {"contrast_start_step": steps // 2}
    return methods


def with_networks(variants: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    """Variants with the networks of App. C; the first word of a variant is the name of its method."""
    conv: dict[str, object] = {"architecture": "conv-factor-vae"}
    return {name: conv | dict(settings) for name, settings in variants.items()}


def unpublished(variants: Mapping[str, Mapping[str, object]]) -> dict[tuple[str, ...], None]:
    """Keys without a published value, so that variants do not show the numbers of the paper's method."""
    settings = [
        (name.split()[0], f"{option}={value}")
        for name, options in variants.items()
        for option, value in options.items()
    ]
    return {(*setting, metric): None for setting in settings for metric in SCORES}


def in_small_batches(plans: Sequence[Plan], **options: object) -> list[Plan]:
    """The plans with batches of at most 64."""
    return [replace(plan, batch_size=min(BATCH, plan.options["batch_size"]), **options) for plan in plans]


def published(data: str, pair: str, table: str) -> dict[tuple[str, ...], float]:
    """A printed table, one line per method: DCI, SAP and IRS with independent, then with correlated factors."""
    rows = ("factor-vae gamma=10.0", "factor-vae gamma=40.0", "beta-tcvae", "infogan-cr", "intervention")
    values: dict[tuple[str, ...], float] = {}
    for row, line in zip(rows, table.strip().splitlines(), strict=True):
        numbers = [float(number) for number in line.split()]
        for index, name in enumerate((data, f"{data}-{pair}")):
            for metric, number in zip(SCORES, numbers[3 * index : 3 * index + 3], strict=True):
                method, *setting = row.split()
                values[(method, name, *setting, metric)] = number
    return values
