"""Average and worst-group accuracy on colours that training did not show, for every method (Table 1).

Reconstruction for Disentanglement, Contrast for Invariance, 2022, Table 1: Colored-MNIST, 3D Shapes and MPI3D;
here also Colored-MNIST in `hard` colours, and rooms. Every test observation is scored; groups are class ×
background, or class × object colour. `quick` takes scikit-learn's bundled digits and one seed.
"""

from unbraid.objectives import Normal
from unbraid.plan import Plan, replace

METHODS = ("cnn", "cnn-beta-vae", "vfae", "cai", "cvib", "uai", "recon-contrast")
WEIGHED: dict[str, object] = {
    "prediction": 1000.0,
    "likelihood": Normal(1.0),
}  # against images of 2,352 numbers
SETTINGS: dict[str, dict[str, object]] = {
    "cnn-beta-vae": WEIGHED,
    "vfae": WEIGHED,
    "cvib": WEIGHED,
    # With 64 pairs there are as many images in a step as for the others.
    "recon-contrast": {"batch": 64, "predictive": 128, "contrast": 5000.0, "likelihood": Normal(1.0)},
}
BASE = Plan(
    "cnn",
    "colored-mnist",
    {"steps": 20_000, "batch": 128},
    metrics=("group_accuracy",),
    scoring={"samples": 0, "on": {"part": "test"}},
)
DATA: dict[str, list[dict[str, object]]] = {
    "colored-mnist": [
        {"digits": "mnist", "colours": "mild", "part": "train"},
        {"digits": "mnist", "colours": "hard", "part": "train"},
    ],
    "rooms": [{"part": "train"}],
    "shapes3d": [{"part": "train"}],
    "mpi3d": [{"part": "train"}],
}


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        return [replace(plan, digits="bundled", steps=300, seed=0) for plan in plans(BASE)]
    chosen = [replace(BASE, data=data, **options) for data in DATA for options in DATA[data]]
    return [replace(plan, seed=seed) for base in chosen for plan in plans(base) for seed in range(5)]


def plans(base: Plan) -> list[Plan]:
    """The same for every method."""
    return [replace(base, method=method, **SETTINGS.get(method, {})) for method in METHODS]


def published(data: str, metrics: tuple[str, ...], table: str) -> dict[tuple[str, ...], float]:
    """A table with a line for each method, a column for each metric."""
    lines = [map(float, line.split()) for line in table.strip().splitlines()]
    return {
        (method, data, metric): value
        for method, line in zip(METHODS, lines, strict=True)
        for metric, value in zip(metrics, line, strict=True)
    }


BOTH = ("group_accuracy", "group_accuracy.worst")
PUBLISHED = (
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
