"""Which dimensions vary on digits: augmented GIN and supervised GIN.

Self-supervised Disentangled Representation Learning, 2021, Sec. 4.3 and Figs. 2, 3 and 5 to 10, which have no numbers.

- `paper`: 240,000 steps of 20 sets of eight, a tenth of the learning rate for the last half, and sets and noise that
  are drawn once: the paper's 20 epochs of EMNIST's digits, here 80 of MNIST's. Its text prints a learning rate of 3e-2;
  our reading is 3e-4, that of GIN's published code. Supervised GIN has the settings of its own paper: 100,000 steps of
  240.
- `short`: a tenth of both lengths, learning rates of 3e-4 and 1e-3 for three seeds, and the printed 3e-2 for one.
- `quick`: 30 steps on the bundled digits.

Every run is evaluated on test digits and on training digits. `emnist` has the paper's dataset.
`python benchmarks/augmented_gin.py STUDY --out FOLDER` draws the figures.
"""

from unbraid.optimizers import Adam
from unbraid.schedules import StepDecay
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")
METRICS = ("codes:spectrum", "codes:above_noise", "inversion", "reconstruction")
LR, LARGER_LR, PRINTED_LR = 3e-4, 1e-3, 3e-2
STEPS = {
    "paper": 240_000,
    "short": 24_000,
    "quick": 30,
}  # augmented GIN; 20 epochs of 240,000 digits, 20 per step
GIN_STEPS = {"paper": 100_000, "short": 10_000, "quick": 30}  # 100 epochs of 240,000 digits, 240 per step
ONCE: dict[str, object] = {"noise": 0.0, "fixed_noise": 0.01}  # added to the sets before training, Sec. 4.3


def augmented(scale: str, *, lr: float = LR, seed: int = 0, **options: object) -> Plan:
    """The paper's training of augmented GIN, at this length."""
    steps = STEPS[scale]
    settings = {"batch_size": 20, "optimizer": Adam(lr), "lr_schedule": StepDecay(1.0, 0.1, steps // 2)}
    return _digits(scale, "augmented-gin", {**settings, **ONCE, "steps": steps, "seed": seed, **options})


def supervised(scale: str) -> Plan:
    """Supervised GIN as in its paper, at this length."""
    steps = GIN_STEPS[scale]
    settings = {"batch_size": 240, "optimizer": Adam(LR), "lr_schedule": StepDecay(1.0, 0.1, steps // 2)}
    return _digits(scale, "gin", {**settings, "steps": steps, "seed": 0})


def _digits(scale: str, method: str, options: dict[str, object]) -> Plan:
    quick = scale == "quick"
    evaluation = {"num_samples": 200 if quick else 10_000, "on": {"split": "test"}}
    return Plan(method, "digits", {"digits": "bundled" if quick else "mnist", **options}, METRICS, evaluation)


def on_both_splits(plans: list[Plan]) -> list[Plan]:
    """Each plan evaluated on test digits, and on as many training digits: the difference is overfitting."""
    samples = {name: value for name, value in plans[0].evaluation.items() if name != "on"}
    return plans + [replace(plan, evaluation=samples) for plan in plans]


def augmented_runs(scale: str) -> list[Plan]:
    """Augmented GIN: one seed, or the learning rates of `short`."""
    if scale != "short":
        return [augmented(scale)]
    plans = [augmented(scale, lr=lr, seed=seed) for lr in (LR, LARGER_LR) for seed in range(3)]
    return [*plans, augmented(scale, lr=PRINTED_LR)]


def runs(scale: str) -> list[Plan]:
    """Augmented GIN and supervised GIN."""
    return on_both_splits([*augmented_runs(scale), supervised(scale)])
