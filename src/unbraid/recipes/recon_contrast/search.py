"""Hyperparameters for the accuracy tables, chosen on held-out training digits.

The held-out digits are shown on a background color that is left out of training, each color in turn; on rotated digits
the outer angles are left out too. Test colors, angles and digits are not used. There are four settings per method, also
for recon-contrast as in the paper; with another encoder it has two. `quick` uses one setting per method and one color.
"""

from unbraid.data import TRAIN
from unbraid.recipes.recon_contrast.table1 import BASE, METHODS, OURS, SAME_ENCODER, SETTINGS
from unbraid.recipes.recon_contrast.table2 import POLAR, ROTATED
from unbraid.studies import Plan, replace

GRID: dict[str, list[dict[str, object]]] = {
    "cnn": [{"feature_dim": f, "batch_size": b} for f in (32, 128) for b in (128, 256)],
    "cnn-beta-vae": [{"lambda_class": p, "beta": b} for p in (100.0, 1000.0) for b in (1.0, 4.0)],
    "vfae": [{"lambda_class": p, "lambda_invariance": i} for p in (100.0, 1000.0) for i in (10.0, 1000.0)],
    "cai": [{"feature_dim": f, "lambda_invariance": i} for f in (32, 128) for i in (0.1, 1.0)],
    "cvib": [{"lambda_class": p, "lambda_invariance": i} for p in (100.0, 1000.0) for i in (0.1, 1.0)],
    "uai": [{"lambda_class": p, "lambda_invariance": i} for p in (100.0, 1000.0) for i in (0.1, 1.0)],
    "recon-contrast": [{"lambda_contrast": c} for c in (300.0, 1000.0)],
}
PAPERS = [{"lambda_contrast": c, "lambda_average": a} for c in (300.0, 1000.0) for a in (1.0, 10.0)]
OOD_VALIDATION = replace(
    BASE,
    steps=2_500,
    metrics=("group_accuracy",),
    evaluation={"num_samples": 0, "on": {"split": "ood-validation"}},
)


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        (fold, *_), small = folds(BASE.data), replace(OOD_VALIDATION, digits="bundled", validation_digits=288)
        return [replace(small, **fold, steps=50, **_entries(method, BASE.data)[0]) for method in METHODS]
    base = replace(OOD_VALIDATION, digits="mnist", validation_digits=5_000)
    return [
        replace(base, data=data, **fold, **entry)
        for data in (BASE.data, ROTATED.data)
        for method in METHODS
        for entry in _entries(method, data)
        for fold in folds(data)
    ]


def folds(data: str) -> list[dict[str, object]]:
    """The background colors of each fold, in which one of the training colors is left out."""
    rotated = data == ROTATED.data
    angles = {"angles": (0.0, 22.5, -22.5), "test_angles": (45.0, -45.0)} if rotated else {}
    return [
        {
            "background_colors": tuple(color for color in TRAIN if color != left_out),
            "test_background_colors": (left_out,),
            **angles,
        }
        for left_out in TRAIN
    ]


def _entries(method: str, data: str) -> list[dict[str, object]]:
    grid, encoders = GRID[method], [str(OURS["predictive_encoder"])]
    if data == ROTATED.data:
        encoders.append(POLAR)
    if method == "recon-contrast":
        grid = [
            *(settings | {"predictive_encoder": encoder} for encoder in encoders for settings in grid),
            *PAPERS,
        ]
    if method == "cnn":  # to separate the effect of the encoder from that of the method
        same = [
            SAME_ENCODER | {"architecture": encoder} | settings for encoder in encoders for settings in grid
        ]
        grid = [*grid, *same]
    return [{"method": method, **SETTINGS.get(method, {}), **settings} for settings in grid]
