"""Burns et al., 2021, Unsupervised Disentanglement without Autoencoding: Pitfalls and Future Directions.

At `paper` scale the tables use the network, sizes and augmentations that the paper states. In runs of up to 3,000 steps
such settings did not encode the digit (docs/results/p5_subembeddings.md); some settings of `findings` do.
"""

from collections.abc import Mapping, Sequence

from unbraid.optimizers import Adam
from unbraid.schedules import Cosine
from unbraid.studies import Plan

GAP = "disentanglement_gap"
SUPERVISED = "supervised-subembeddings"
INDEPENDENT = "independent-subembeddings"  # ours
FACTORS = {"dc-bc": ("digit", "background"), "dc-dl": ("digit", "location")}


def plan(
    scale: str, method: str, variant: str = "dc-bc", *, strands: Sequence[str] = ("z",), **options: object
) -> Plan:
    """One run of a table, evaluated by probes that are trained on the training split and tested on the test split.

    The paper does not state the optimizer, learning rate, batch size, temperature or steps (Fig. 5 exceeds 55,000).
    """
    quick = scale == "quick"
    steps = 300 if quick else 20_000
    settings: dict[str, object] = {"variant": variant, "steps": steps, "lr_schedule": Cosine(1.0, 0.0, steps)}
    if quick:  # no download, half the size, a small network, no crops
        settings |= {"digits": "bundled", "backgrounds": "textures", "pairs": 20_000, "image_size": 32}
        settings |= {
            "architecture": "conv",
            "batch_size": 128,
            "optimizer": Adam(3e-3),
            "crop": 1.0,
            "color_jitter": 0.0,
        }
    else:
        settings |= {
            "architecture": "resnet-34",
            "batch_size": 256,
            "optimizer": Adam(1e-3),
            "precision": "bf16",
        }
    evaluation = (
        {"num_samples": 4_000, "num_test_samples": 4_000}
        if quick
        else {"num_samples": 10_000, "num_test_samples": 10_000}
    )
    metrics = tuple(f"{strand}:{GAP}" for strand in strands)
    return Plan(method, "mnist-stl10", settings | options, metrics, evaluation | {"test_split": "test"})


def supervised(scale: str, variant: str = "dc-bc", *, seed: int = 0) -> Plan:
    """The fully supervised pipeline. A ResNet on photographs encodes the digit only with standardized features."""
    options = {} if scale == "quick" else {"standardize_features": True}
    return plan(scale, SUPERVISED, variant, strands=("r",), seed=seed, **options)


def cells(
    method: str, setting: str | None, variant: str, table: Mapping[str, tuple[float, float]]
) -> dict[tuple[str, ...], float]:
    """The published accuracies of one setting in percent: by input (`z`, `z0`, …, or `gap of z`) one value for each of
    the two factors."""
    published: dict[tuple[str, ...], float] = {}
    for row, values in table.items():
        strand = row[-1] if row.startswith("gap of ") else row[0]
        entry = "gap" if row.startswith("gap of ") else "accuracy." + ("whole" if row == strand else row)
        for factor, value in zip(FACTORS[variant], values, strict=True):
            metric = f"{strand}:{GAP}.{entry}.{factor}"
            key = (method, metric) if setting is None else (method, setting, metric)
            published[key] = round(value / 100, 4)
    return published
