"""Unsupervised Disentanglement Learning by Intervention, 2021: its data, its methods and its scores.

At `paper` scale the tables have ten seeds of 100,000 steps. The recipes `short-…` are meant to be run: three seeds of
5,000 or 10,000 steps, with variants of the intervention autoencoder.
"""

from collections.abc import Mapping, Sequence

from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace

SCORES = ("dci", "sap", "irs")
STEPS = 100_000  # the paper gives none
SHORT, SEEDS = {"dsprites": 10_000, "rooms": 5_000, "hue-mnist": 10_000}, 3
BATCH = 64  # App. C
# Sizes of the training and test sets (App. B), and the correlated factors (Sec. 5.1).
DATA: dict[str, dict[str, object]] = {
    "dsprites": {"hold_out": 50_000, "resample": 200_000},
    "shapes3d": {"hold_out": 50_000, "resample": 100_000},
    "rooms": {"hold_out": 50_000, "resample": 100_000},
    "sprites": {"size": 32, "hold_out": 5_000, "resample": 20_000},
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
    """Every method on independent and on correlated factors, scored on the images held out by InfoGAN-CR's
    estimators."""
    base = Plan(
        "intervention",
        data,
        {"steps": steps, "batch": BATCH, **DATA[data]},
        metrics=(*SCORES, "active_features"),
        scoring={"protocol": "infogan_cr", "samples": 0, "on": {"split": "test"}},
    )
    settings = settings_of(data, steps) if methods is None else methods
    return [
        replace(base, method=name.split()[0], seed=seed, correlate=correlate, **options)
        for seed in range(seeds)
        for correlate in ((), PAIRS[data])
        for name, options in settings.items()
    ]


def settings_of(data: str, steps: int) -> dict[str, dict[str, object]]:
    """Each method as its own paper trains it; the intervention autoencoder as App. C has it."""
    conv: dict[str, object] = {"architecture": "conv-factor-vae"}
    tcvae: dict[str, object] = {"beta": 6.0, "batch": 2048, "optimiser": Adam(1e-3)}
    return {
        "factor-vae 10": conv | {"gamma": 10.0},
        "factor-vae 40": conv | {"gamma": 40.0},
        # Fully connected on dSprites, as App. C says.
        "beta-tcvae": tcvae | {"architecture": "mlp" if data in ("dsprites", "sprites") else "conv"},
        "infogan-cr": {"start": round(0.9 * steps)},  # 288,000 of 322,560 there
        "intervention": dict(conv),
    }


def shortened(data: str, steps: int) -> dict[str, dict[str, object]]:
    """The same within few steps: a quarter of them for β-TCVAE, whose batches are large, and InfoGAN-CR's regulariser
    from half of them on."""
    methods = settings_of(data, steps)
    methods["beta-tcvae"] |= {"steps": steps // 4}
    methods["infogan-cr"] |= {"start": steps // 2}
    return methods


def of_intervention(variants: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    """The intervention autoencoder with other settings, by what they are called."""
    conv: dict[str, object] = {"architecture": "conv-factor-vae"}
    return {f"intervention {name}": conv | dict(settings) for name, settings in variants.items()}


def unpublished(variants: Mapping[str, Mapping[str, object]]) -> dict[tuple[str, ...], None]:
    """What keeps variants from being taken for the method of the paper."""
    said = [f"{name}={value}" for settings in variants.values() for name, value in settings.items()]
    return {("intervention", setting, metric): None for setting in said for metric in SCORES}


def in_small_batches(plans: Sequence[Plan], **options: object) -> list[Plan]:
    """With no batch above 64, for a quick look."""
    return [replace(plan, batch=min(BATCH, plan.options["batch"]), **options) for plan in plans]


def published(data: str, pair: str, table: str) -> dict[tuple[str, ...], float]:
    """A table as printed, a line a method: DCI, SAP and IRS with independent factors, and with correlated ones."""
    rows = ("factor-vae gamma=10.0", "factor-vae gamma=40.0", "beta-tcvae", "infogan-cr", "intervention")
    values: dict[tuple[str, ...], float] = {}
    for row, line in zip(rows, table.strip().splitlines(), strict=True):
        numbers = [float(number) for number in line.split()]
        for place, name in enumerate((data, f"{data}-{pair}")):
            for metric, number in zip(SCORES, numbers[3 * place : 3 * place + 3], strict=True):
                method, *setting = row.split()
                values[(method, name, *setting, metric)] = number
    return values
