"""Reconstruction for Disentanglement, Contrast for Invariance, 2022: what its tables share.

The paper prints no number of steps, batch size, learning rate, weights, code sizes, temperature or network, and no
precision. All of these are our reading, at every scale. `paper` has five seeds and the length that `length` is to
confirm on validation data; `short` has three seeds and fewer steps, for about ten minutes on one GPU; `quick` has
scikit-learn's bundled digits or small rooms, one seed and a minute on 2 CPU cores.

Tables of accuracy have two blocks: first all methods with one plain convolutional network, as the paper has; then all
methods with a reader, our network that cannot see colors.
"""

from typing import Any

from unbraid.objectives import Normal
from unbraid.schedules import Linear
from unbraid.studies import Plan, replace

METHODS = ("cnn", "cnn-beta-vae", "vfae", "cai", "cvib", "uai", "recon-contrast")
SCALES = ("quick", "short", "paper")
STEPS = {"quick": 250, "short": 4_000, "paper": 16_000}  # our reading
SEEDS = {"quick": 1, "short": 3, "paper": 5}
PRECISION = "bf16"  # of all methods of a table on a GPU; our reading
BATCH = 256  # images; a batch of pairs has half as many pairs
# Relative to the loss of images with 2,352 values. Weights and sizes were chosen by `search`, those of recon-contrast
# before Eq. 5 swapped all of zn; it is to be searched again.
WEIGHED: dict[str, Any] = {"lambda_class": 1000.0, "likelihood": Normal(1.0)}
SETTINGS: dict[str, dict[str, Any]] = {
    "cnn": {"feature_dim": 128, "batch_size": 128},
    "cnn-beta-vae": WEIGHED | {"beta": 4.0},
    # Values that are not in training are encoded as zeros, which VFAE is to see in training: docs/methods/vfae.md.
    "vfae": WEIGHED | {"lambda_invariance": 1000.0},
    "cai": {"feature_dim": 32, "lambda_invariance": 0.1},
    "cvib": WEIGHED | {"lambda_class": 100.0, "lambda_invariance": 1.0},
    "uai": {"lambda_class": 1000.0, "lambda_invariance": 1.0},
    "recon-contrast": {
        "batch_size": BATCH // 2,
        "predictive_dim": 128,
        "lambda_swap": 1.0,
        "lambda_contrast": 1000.0,
        "lambda_average": 1.0,
        "lambda_class": 1000.0,
        "classify_direction": True,
        "likelihood": Normal(0.1),
    },
}
READER, POLAR = "conv-channelwise", "conv-channelwise-polar"
WITH_READER: dict[str, dict[str, Any]] = {  # what the search chose with a reader, where it differs
    "cnn": {"feature_dim": 32, "batch_size": 256},
    "recon-contrast": {"lambda_contrast": 300.0},
}
E1_DIM = 10  # of UAI
PARTNERS = ("other-instance", "same-instance")  # "choose another sample" of Sec. 3.2, and the pairs of Fig. 8
MAX_K = {
    "colored-mnist": 2,
    "rotation-colored-mnist": 2,
}  # a digit has two known colors; elsewhere as in Table 3


def base(data: str, scale: str) -> Plan:
    """Training at this scale, evaluated on every observation of the test split."""
    options: dict[str, Any] = {"steps": STEPS[scale], "batch_size": BATCH, "split": "train"}
    if scale == "quick":
        options |= {"batch_size": 64, "digits": "bundled"}
    else:
        options |= {"precision": PRECISION} | ({"digits": "mnist"} if data in MAX_K else {})
    metrics = ("group_accuracy", "strand_probes")
    return Plan("cnn", data, options, metrics, {"num_samples": 0, "on": {"split": "test"}})


def warm_ups(steps: int, max_k: int = 3) -> dict[str, Any]:
    """Both warm-ups over the first half of training: of the number of swapped dimensions, and of k from 1."""
    return {
        "swap_schedule": Linear(0.0, 1.0, steps // 2),
        "k_schedule": Linear(1.0, float(max_k), steps // 2),
    }


def row(plan: Plan, method: str, **settings: Any) -> Plan:
    """A method in the paper's block: with one plain network and, where the plan is quick, smaller batches."""
    own = SETTINGS[method] | settings
    if method == "recon-contrast":
        own = warm_ups(plan.options["steps"], MAX_K.get(plan.data, 3)) | own
    if plan.options.get("digits") == "bundled":
        own = own | {"batch_size": 32 if method == "recon-contrast" else 64}
    return replace(plan, method=method, **own)


def paper_block(plan: Plan, **settings: Any) -> list[Plan]:
    """The paper's seven methods with the paper's kind of network; recon-contrast with both readings of its pairs."""
    rows = [row(plan, method, **settings) for method in METHODS[:-1]]
    return [*rows, *(row(plan, METHODS[-1], **pairs, **settings) for pairs in readings(plan.data))]


def readings(data: str) -> list[dict[str, Any]]:
    """The readings of "choose another sample"; one where no image is shown twice."""
    return [{"partner": partner} for partner in PARTNERS] if data in MAX_K else [{}]


def reader_block(plan: Plan, reader: str = READER) -> list[Plan]:
    """The same methods with a reader, a network that cannot see colors.

    CNN, CAI and VFAE do not decode colors from what they read, or get them as nuisances, and so does CVIB's decoder.
    UAI has the reader for e1 and a plain encoder for e2, recon-contrast for zp. The β-VAE has one code for prediction
    and reconstruction: with a reader its reconstructions have no colors.
    """
    return [with_reader(plan, reader) for plan in paper_block(plan)]


def with_reader(plan: Plan, reader: str, *, chosen: bool = True) -> Plan:
    """The plan with a reader for what its classifier takes, and with the settings that the search chose for it."""
    plan = replace(plan, **WITH_READER.get(plan.method, {})) if chosen else plan
    if plan.options.get("digits") == "bundled":
        plan = replace(plan, batch_size=32 if plan.method == "recon-contrast" else 64)
    if plan.method == "recon-contrast":
        return replace(plan, predictive_encoder=reader)
    return replace(plan, architecture=f"split:{reader}@{E1_DIM}+conv" if plan.method == "uai" else reader)


def over_seeds(plans: list[Plan], scale: str) -> list[Plan]:
    """Each plan with the seeds of the scale."""
    return [replace(plan, seed=seed) for plan in plans for seed in range(SEEDS[scale])]


def unpublished(data: str, metrics: tuple[str, ...], *readers: str) -> dict[tuple[str, ...], None]:
    """The rows with a reader, which have no published value."""
    options = {method: "architecture={reader}" for method in METHODS[:-1]}
    options |= {
        "uai": f"architecture=split:{{reader}}@{E1_DIM}+conv",
        METHODS[-1]: "predictive_encoder={reader}",
    }
    return {
        (method, data, option.format(reader=reader), metric): None
        for method, option in options.items()
        for reader in readers
        for metric in metrics
    }
