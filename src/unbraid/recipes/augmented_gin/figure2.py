"""Which dimensions vary on digits: augmented GIN and supervised GIN.

Self-supervised Disentangled Representation Learning, 2021, Sec. 4.3 and Figs. 2, 3 and 5 to 10, which have no numbers.
The paper trains 20 epochs on EMNIST's 240,000 digits, 20 sets of eight per step. Here `paper` uses MNIST's 60,000
digits, larger steps, and the learning rate of GIN's published code (the paper prints 3e-2, probably for 3e-4). `quick`
trains 30 steps on the bundled digits. `python benchmarks/augmented_gin.py STUDY` draws the figures.
"""

from unbraid.optimizers import Adam
from unbraid.schedules import StepDecay
from unbraid.studies import Plan, replace

METRICS = ("codes:spectrum", "inversion", "reconstruction")
AUGMENTED = Plan(
    "augmented-gin",
    "digits",
    {
        "digits": "mnist",
        "steps": 12_000,
        "batch_size": 100,
        "optimizer": Adam(1e-3),
        "lr_schedule": StepDecay(1.0, 0.1, 8_000),
    },
    METRICS,
    {"num_samples": 4096, "on": {"split": "test"}},
)
SUPERVISED = replace(AUGMENTED, method="gin", batch_size=800)


def runs(scale: str) -> list[Plan]:
    """Both methods, one seed."""
    plans = [replace(AUGMENTED, seed=0), replace(SUPERVISED, seed=0)]
    if scale == "paper":
        return plans
    small = {"digits": "bundled", "steps": 30, "lr_schedule": None}
    return [
        replace(plan, evaluation={"num_samples": 200}, batch_size=batch, **small)
        for plan, batch in zip(plans, (8, 64), strict=True)
    ]
