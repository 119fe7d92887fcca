"""Average and worst-group accuracy on colors that are not in the training split, for all methods (Table 1).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 1: Colored-MNIST, 3D Shapes and MPI3D; here
also rooms. Models of Colored-MNIST are tested in `mild` and in `hard` colors, which share their training split. All
test observations are used; groups are class × background, or class × object color. Not in the paper: recon-contrast
with a channelwise encoder (the paper's variant has its own row), and the plain CNN with that encoder. `quick` uses
scikit-learn's bundled digits and one seed.
"""

from unbraid.objectives import Normal
from unbraid.studies import Plan, replace

METHODS = ("cnn", "cnn-beta-vae", "vfae", "cai", "cvib", "uai", "recon-contrast")
WEIGHED: dict[str, object] = {
    "lambda_class": 1000.0,
    "likelihood": Normal(1.0),
}  # relative to the loss of images with 2,352 values
SETTINGS: dict[str, dict[str, object]] = {  # chosen by recon-contrast/search
    "cnn": {"feature_dim": 128, "batch_size": 128},
    "cnn-beta-vae": WEIGHED | {"beta": 4.0},
    "vfae": WEIGHED | {"lambda_invariance": 1000.0},
    "cai": {"feature_dim": 32, "lambda_invariance": 0.1},
    "cvib": WEIGHED | {"lambda_class": 100.0, "lambda_invariance": 1.0},
    "uai": {"lambda_class": 1000.0, "lambda_invariance": 1.0},
    # 128 pairs per step have as many images as the batches of the other methods.
    "recon-contrast": {
        "batch_size": 128,
        "predictive_dim": 128,
        "lambda_contrast": 300.0,
        "lambda_class": 1000.0,
        "likelihood": Normal(0.1),
    },
}
# Recon-contrast with an encoder that is not in the paper, and as in the paper; both were chosen by the search.
OURS: dict[str, object] = {"predictive_encoder": "conv-channelwise"}
AS_IN_THE_PAPER: dict[str, object] = {"lambda_contrast": 1000.0}
SAME_ENCODER: dict[str, object] = {"architecture": "conv-channelwise", "feature_dim": 32, "batch_size": 256}
BASE = Plan(
    "cnn",
    "colored-mnist",
    {"steps": 4_000, "batch_size": 256},
    metrics=("group_accuracy", "strand_probes"),
    evaluation={"num_samples": 0, "on": {"split": "test"}},
)
HARD = {"num_samples": 0, "on": {"split": "test", "color_set": "hard"}}
DIGITS: dict[str, object] = {"digits": "mnist", "split": "train"}


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        return [quick(plan) for plan in plans(BASE)[: len(METHODS)]]
    rooms = [replace(BASE, data=data, split="train") for data in ("rooms", "shapes3d", "mpi3d")]
    every = [*both_colors(plans(replace(BASE, **DIGITS))), *(plan for base in rooms for plan in plans(base))]
    return [replace(faster(plan), seed=seed) for plan in every for seed in range(5)]


def quick(plan: Plan, seed: int = 0) -> Plan:
    """The plan on bundled digits, for a minute on 2 CPU cores."""
    images = 32 if plan.method == "recon-contrast" else 64  # pairs, or single images
    return replace(plan, digits="bundled", steps=250, batch_size=images, seed=seed)


def faster(plan: Plan) -> Plan:
    """Recon-contrast, the slowest method, in bf16, which is 1.5 times as fast on a GPU."""
    return replace(plan, precision="bf16") if plan.method == "recon-contrast" else plan


def plans(base: Plan) -> list[Plan]:
    """All methods, then recon-contrast as in the paper and the plain CNN with our encoder."""
    every = [replace(base, method=method, **SETTINGS.get(method, {})) for method in METHODS]
    cnn, *_, system = every
    return [
        *every[:-1],
        replace(system, **OURS),
        replace(system, **AS_IN_THE_PAPER),
        replace(cnn, **SAME_ENCODER),
    ]


def both_colors(plans: list[Plan]) -> list[Plan]:
    """Each plan twice, tested in its colors and in `hard` colors; it is trained once."""
    return [*plans, *(replace(plan, evaluation=HARD) for plan in plans)]


def published(
    data: str, metrics: tuple[str, ...], table: str, *on: str
) -> dict[tuple[str, ...], float | None]:
    """A printed table, one line per method and one column per metric; `on` is the evaluation dataset if it varies."""
    lines = [map(float, line.split()) for line in table.strip().splitlines()]
    return {
        (method, data, *on, metric): value
        for method, line in zip(METHODS, lines, strict=True)
        for metric, value in zip(metrics, line, strict=True)
    }


BOTH = ("group_accuracy", "group_accuracy.worst")
PUBLISHED: dict[tuple[str, ...], float | None] = {
    ("cnn", data, f"architecture={SAME_ENCODER['architecture']}", metric): None
    for data in ("colored-mnist", "rooms-train", "shapes3d-train", "mpi3d-real-train")
    for metric in BOTH
}
PUBLISHED |= (
    published(
        "colored-mnist",
        BOTH,
        """
        0.9512 0.6617
        0.9265 0.5879
        0.9312 0.6554
        0.9356 0.6317
        0.9331 0.7012
        0.9474 0.7425
        0.9796 0.9043
        """,
        "on=colored-mnist --split test",
    )
    | published(
        "shapes3d-train",
        BOTH,
        """
        0.9887 0.9689
        0.9866 0.9577
        0.9772 0.9334
        0.9762 0.9432
        0.9711 0.9446
        0.9713 0.9521
        0.9852 0.9763
        """,
    )
    | published(
        "mpi3d-real-train",
        BOTH,
        """
        0.9012 0.8789
        0.8698 0.8489
        0.8669 0.8243
        0.8663 0.8216
        0.8704 0.8561
        0.8789 0.8301
        0.9132 0.8917
        """,
    )
)
