"""Burns et al., 2021, Unsupervised Disentanglement without Autoencoding: Pitfalls and Future Directions.

At `paper` scale the tables have the paper's network, sizes and augmentations, as far as it gives them. In runs of up to
3,000 steps such settings did not find the digit (docs/results/p5_subembeddings.md); `findings` has some that do.
"""

from collections.abc import Mapping, Sequence

from unbraid.optimisers import Adam
from unbraid.plan import Plan
from unbraid.schedules import Cosine

GAP = "disentanglement_gap"
SUPERVISED = "supervised-subembeddings"
FACTORS = {"dc-bc": ("digit", "background"), "dc-dl": ("digit", "location")}


def plan(
    scale: str, method: str, variant: str = "dc-bc", *, strands: Sequence[str] = ("z",), **options: object
) -> Plan:
    """One run of a table, scored by probes that learn from training pictures and are tested on test pictures.

    The paper gives neither optimiser, rate, batch, temperature nor steps (its Fig. 5 passes 55,000).
    """
    quick = scale == "quick"
    steps = 300 if quick else 20_000
    settings: dict[str, object] = {"variant": variant, "steps": steps, "rate": Cosine(1.0, 0.0, steps)}
    if quick:  # no download, half the size, a small network, whole images
        settings |= {"digits": "bundled", "backgrounds": "textures", "pairs": 20_000, "size": 32}
        settings |= {
            "architecture": "conv",
            "batch": 128,
            "optimiser": Adam(3e-3),
            "crop": 1.0,
            "colour": 0.0,
        }
    else:
        settings |= {"architecture": "resnet-34", "batch": 256, "optimiser": Adam(1e-3), "precision": "bf16"}
    scoring = (
        {"samples": 4_000, "test_samples": 4_000} if quick else {"samples": 10_000, "test_samples": 10_000}
    )
    metrics = tuple(f"{strand}:{GAP}" for strand in strands)
    return Plan(method, "mnist-stl10", settings | options, metrics, scoring | {"test_part": "test"})


def supervised(scale: str, variant: str = "dc-bc", *, seed: int = 0) -> Plan:
    """The fully supervised pipeline. A ResNet on photographs does not find the digit without standardised features."""
    own = {} if scale == "quick" else {"standardised": True}
    return plan(scale, SUPERVISED, variant, strands=("r",), seed=seed, **own)


def cells(
    method: str, setting: str | None, variant: str, table: Mapping[str, tuple[float, float]]
) -> dict[tuple[str, ...], float]:
    """The published accuracies of one setting, in per cent: by input (`z`, `z0`, …, or `gap of z`) a value for each
    of the two factors."""
    published: dict[tuple[str, ...], float] = {}
    for row, values in table.items():
        strand = row[-1] if row.startswith("gap of ") else row[0]
        entry = "gap" if row.startswith("gap of ") else "accuracy." + ("whole" if row == strand else row)
        for factor, value in zip(FACTORS[variant], values, strict=True):
            metric = f"{strand}:{GAP}.{entry}.{factor}"
            key = (method, metric) if setting is None else (method, setting, metric)
            published[key] = round(value / 100, 4)
    return published
