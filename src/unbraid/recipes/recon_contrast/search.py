"""Hyperparameters of the tables, chosen on held-out training digits, or on a seed that is in no table.

Digits: the held-out digits are shown on a background color and in digit colors that are left out of training, each
background and a third of the digit colors in turn; on rotated digits the outer angles are left out too. Test colors,
angles and digits are not used. Every method has six settings in each block, of the plain network and of the reader;
both readings of the pairs of recon-contrast count as methods. Its settings vary the weights α, β and γ, the distance
and what the classifier reads. Rooms: six settings each of SW-VAE and of the baselines of Table 3, one seed, 10,000
steps, protocol `fast`; these scores are those of the table, so they are no result. `quick` has one setting per method
and one fold.
"""

from itertools import product
from typing import Any

from unbraid.data import DIGIT_COLORS, TRAIN
from unbraid.objectives import Bernoulli
from unbraid.optimizers import Adam
from unbraid.recipes.recon_contrast import (
    METHODS,
    POLAR,
    READER,
    base,
    readings,
    row,
    table3,
    warm_ups,
    with_reader,
)
from unbraid.recipes.vae_family.sweep import SWEEPS
from unbraid.studies import Plan, replace

BUDGET = 6  # settings of every method
STEPS = 2_500
SEED = 100


def grid(**values: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Every combination of the values."""
    return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


SLOWER = {"optimizer": Adam(3e-4)}
PREDICTING = grid(lambda_class=(100.0, 1000.0), lambda_invariance=(0.1, 1.0, 10.0))
CENTER: dict[str, Any] = {"lambda_swap": 1.0, "lambda_contrast": 1000.0, "lambda_average": 1.0}
GRID: dict[str, list[dict[str, Any]]] = {
    "cnn": [
        *grid(feature_dim=(32, 128), batch_size=(128, 256)),
        *(SLOWER | {"feature_dim": f} for f in (32, 128)),
    ],
    "cnn-beta-vae": grid(lambda_class=(100.0, 1000.0), beta=(1.0, 4.0, 16.0)),
    "vfae": grid(lambda_class=(100.0, 1000.0), lambda_invariance=(10.0, 100.0, 1000.0)),
    "cai": grid(feature_dim=(32, 128), lambda_invariance=(0.03, 0.1, 1.0)),
    "cvib": PREDICTING,
    "uai": PREDICTING,
    "recon-contrast": [  # α, β, γ, the classifier's input and D, one changed at a time
        CENTER,
        CENTER | {"lambda_swap": 0.1},
        CENTER | {"lambda_contrast": 100.0},
        CENTER | {"lambda_average": 0.1},
        CENTER | {"classify_direction": False},
        CENTER | {"distance": "bce", "likelihood": Bernoulli()},
    ],
}
SWAPS = grid(lambda_swap=(1.0, 10.0, 100.0), beta=(1.0, 4.0))


def runs(scale: str) -> list[Plan]:
    if scale == "quick":
        plan = replace(ood_validation("colored-mnist", scale, 50), **folds("colored-mnist")[0])
        return [row(plan, method, **GRID[method][0]) for method in METHODS]
    plans = []
    for data, reader in (("colored-mnist", READER), ("rotation-colored-mnist", POLAR)):
        printed = settings(ood_validation(data, scale, STEPS))
        every = [*printed, *(with_reader(plan, reader, chosen=False) for plan in printed)]
        plans += [replace(plan, **fold) for plan in every for fold in folds(data)]
    return [*plans, *rooms()]


def settings(plan: Plan) -> list[Plan]:
    """Every setting of every method, of recon-contrast for each reading of its pairs."""
    rows = [row(plan, method, **chosen) for method in METHODS[:-1] for chosen in GRID[method]]
    last = METHODS[-1]
    return [
        *rows,
        *(row(plan, last, **pairs, **chosen) for pairs in readings(plan.data) for chosen in GRID[last]),
    ]


def ood_validation(data: str, scale: str, steps: int) -> Plan:
    """Training digits in training colors, evaluated on held-out training digits in the colors that are left out."""
    held_out = 288 if scale == "quick" else 5_000
    plan = replace(base(data, scale), steps=steps, validation_digits=held_out, metrics=("group_accuracy",))
    return replace(plan, evaluation={"num_samples": 0, "on": {"split": "ood-validation"}})


def folds(data: str) -> list[dict[str, Any]]:
    """The colors of each fold, in which a background and a third of the digit colors are left out of training."""
    rotated = data == "rotation-colored-mnist"
    angles = {"angles": (0.0, 22.5, -22.5), "test_angles": (45.0, -45.0)} if rotated else {}
    third = len(DIGIT_COLORS) // len(TRAIN)
    found = []
    for fold, left_out in enumerate(TRAIN):
        inks = DIGIT_COLORS[third * fold : third * (fold + 1)]
        found.append(
            {
                "background_colors": tuple(color for color in TRAIN if color != left_out),
                "test_background_colors": (left_out,),
                "digit_colors": tuple(ink for ink in DIGIT_COLORS if ink not in inks),
                "test_digit_colors": inks,
                **angles,
            }
        )
    return found


def rooms() -> list[Plan]:
    """Six settings of SW-VAE with KL and of each baseline of Table 3."""
    plan = replace(table3.base("short"), seed=SEED, evaluation={"protocol": "fast"})
    both = warm_ups(plan.options["steps"])
    swaps = [replace(plan, divergence="kl", **both, **chosen) for chosen in SWAPS]
    return [
        *swaps,
        *(replace(plan, method=name, **chosen) for name, sweep in SWEEPS.items() for chosen in sweep),
    ]
