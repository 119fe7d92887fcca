"""Unsupervised Disentanglement Learning by Intervention, 2021: the shared datasets, methods and scores.

`paper` has the paper's settings and its ten seeds. The paper trains until convergence and prints no number of steps:
our reading is 100,000 of dSprites and 50,000 of rooms, 3D Shapes and digits. Runs of Tables 1 and 2 are scored at two
earlier lengths, too. β-TCVAE, whose batches have 2,048 images, has a quarter of the steps. `short` has fewer steps and
seeds, for ten minutes of one GPU. The recipes `short-…` are those of the rows on the pages of results, with variants of
the intervention autoencoder.
"""

from collections.abc import Mapping, Sequence

from unbraid.objectives import PlainTranslator
from unbraid.optimizers import Adam
from unbraid.schedules import Exponential, Linear
from unbraid.studies import Plan, replace

SCORES = ("dci", "sap", "irs")
SEEDS = 10  # Sec. 5.2
STEPS, ROOMS_STEPS = 100_000, 50_000  # our reading
LENGTHS = (0.1, 0.3)  # parts of the steps after which runs are scored, too
SHORT, SHORT_SEEDS = {"dsprites": 10_000, "rooms": 5_000, "hue-mnist": 10_000}, 3
BATCH = 64  # App. C
# Algorithm 1 as it is printed. Its network, steps and learning rate are our reading: see PlainTranslator.
AS_PRINTED: dict[str, object] = {
    "translator": PlainTranslator(),
    "subtract_entropy": False,
    "unrolled": True,
}
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
    data: str, steps: int, seeds: int, *, methods: Mapping[str, Mapping[str, object]] | None = None
) -> list[Plan]:
    """All methods on correlated, then on independent factors, evaluated on held-out images by InfoGAN-CR's protocol."""
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
        for correlate in (PAIRS[data], ())
        for seed in range(seeds)
        for name, options in settings.items()
    ]


def settings_of(data: str, steps: int) -> dict[str, dict[str, object]]:
    """The settings of each method's paper; for the intervention autoencoder those of App. C with our translator."""
    conv: dict[str, object] = {"architecture": "conv-factor-vae"}
    # App. C: batches of 2,048, and here a quarter of the steps.
    tcvae: dict[str, object] = {"beta": 6.0, "batch_size": 2048, "steps": steps // 4, "optimizer": Adam(1e-3)}
    return {
        "factor-vae 10": conv | {"gamma": 10.0},
        "factor-vae 40": conv | {"gamma": 40.0},
        # Fully connected on dSprites, as App. C says.
        "beta-tcvae": tcvae | {"architecture": "mlp" if data in ("dsprites", "sprites") else "conv"},
        "infogan-cr": {"contrast_start_step": round(0.9 * steps)},  # 288,000 of 322,560 steps in its paper
        "intervention": dict(conv),
    }


def sequential(steps: int) -> dict[str, object]:
    """The settings of our sequential intervention autoencoder; its schedules are scaled with the steps."""
    return {
        "architecture": "conv-factor-vae",
        "feature_schedule": Linear(2.0, 10.0, steps * 6 // 10),
        "prune_kl": 0.1,
        "lambda_translation": 0.0,
        "optimizer": Adam(5e-4),
        "beta": 0.25,
        "beta_schedule": Exponential(32.0, 1.0, steps * 8 // 10),
        "saturating": False,
    }


def with_ours(settings: dict[str, dict[str, object]], steps: int) -> dict[str, dict[str, object]]:
    """The methods of the paper and our sequential form."""
    return settings | {"sequential-intervention": sequential(steps)}


def at_lengths(plans: Sequence[Plan], lengths: Sequence[float] = LENGTHS) -> list[Plan]:
    """The plans, whose runs are also scored after these parts of their steps."""
    scored = []
    for plan in plans:
        keep = tuple(round(length * plan.options["steps"]) for length in lengths)
        whole = replace(plan, keep_weights=keep)
        early = (replace(whole, evaluation={**plan.evaluation, "steps": steps}) for steps in keep)
        scored += [*early, whole]
    return scored


def shortened(data: str, steps: int) -> dict[str, dict[str, object]]:
    """`settings_of` for short trainings: InfoGAN-CR's regularizer from half of the steps."""
    methods = settings_of(data, steps)
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
