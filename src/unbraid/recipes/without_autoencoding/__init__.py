"""Burns et al., 2021, Unsupervised Disentanglement without Autoencoding: Pitfalls and Future Directions.

Scales of the tables:

- `paper`: a ResNet-34 on 64×64, halves of eight dimensions, the paper's weights. Our reading, because the paper is
  silent: a stem of one convolution of 3 with stride 2 and no pooling, 256 pairs, Adam at 1e-3 falling to zero, 60,000
  steps (Fig. 5 ends after 55,000), τ = 0.1, all views of a joint label as positives, and no crops or color jitter
  beside the two views of a pair.
- `short`: the small network at 32×32 and 20,000 steps, otherwise the same; ten minutes of one GPU.
- `quick`: 300 steps on bundled digits over textures, without a download.

The paper's photographs are STL-10. Without its files `paper` and `short` use CIFAR-10, if that is present, and the name
of the dataset in every table says which.
"""

from collections.abc import Mapping, Sequence

from unbraid.optimizers import Adam
from unbraid.schedules import Cosine
from unbraid.studies import Plan, replace

GAP = "disentanglement_gap"
SUPERVISED = "supervised-subembeddings"
INDEPENDENT = "independent-subembeddings"  # ours
FACTORS = {"dc-bc": ("digit", "background"), "dc-dl": ("digit", "location")}
STEPS = {"quick": 300, "short": 20_000, "paper": 60_000}
PLAIN_VIEWS: dict[str, object] = {"crop": 1.0, "color_jitter": 0.0}
SMALL: dict[str, object] = {"architecture": "conv", "image_size": 32, "optimizer": Adam(3e-3)}
SETTINGS: dict[str, dict[str, object]] = {
    "quick": {**SMALL, "batch_size": 128, "digits": "bundled", "backgrounds": "textures", "pairs": 20_000},
    "short": {**SMALL, "batch_size": 256},
    "paper": {
        "architecture": "resnet-34-stride-2",
        "batch_size": 256,
        "optimizer": Adam(1e-3),
        "precision": "bf16",
    },
}


def plan(
    scale: str, method: str, variant: str = "dc-bc", *, strands: Sequence[str] = ("z",), **options: object
) -> Plan:
    """One run of a table, evaluated by probes that are trained on the training split and tested on the test split."""
    samples = 4_000 if scale == "quick" else 10_000
    evaluation = {"num_samples": samples, "num_test_samples": samples, "test_split": "test"}
    metrics = tuple(f"{strand}:{GAP}" for strand in strands)
    settings = {"variant": variant, **PLAIN_VIEWS, **SETTINGS[scale]}
    return with_steps(Plan(method, "mnist-stl10", settings | options, metrics, evaluation), STEPS[scale])


def with_steps(entry: Plan, steps: int) -> Plan:
    """The plan with so many steps, and a learning rate that falls to zero in them."""
    return replace(entry, steps=steps, lr_schedule=Cosine(1.0, 0.0, steps))


def supervised(
    scale: str, variant: str = "dc-bc", *, standardize_features: bool = False, seed: int = 0
) -> Plan:
    """The fully supervised pipeline (App. A.2); standardized features are ours."""
    return plan(
        scale, SUPERVISED, variant, strands=("r",), standardize_features=standardize_features, seed=seed
    )


def supervised_rows(scale: str, variant: str = "dc-bc") -> list[Plan]:
    """The fully supervised pipeline as printed, and with standardized features.

    The features of a ResNet are nearly parallel at the start; without standardization the half of the digit stayed so
    in short runs.
    """
    return [supervised(scale, variant, standardize_features=standardize) for standardize in (False, True)]


AS_PRINTED = "standardize_features=False"  # the row of the supervised pipeline that the paper has


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
