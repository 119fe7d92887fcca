"""What the codes of digits do: augmented GIN beside supervised GIN.

Self-supervised Disentangled Representation Learning, 2021, Sec. 4.3 and Figs. 2, 3 and 5 to 10, which have no numbers.
The paper trains 20 epochs on EMNIST's 240,000 digits, 20 sets of eight in a step; here `paper` has MNIST's 60,000 and
larger steps, so that a GPU is done in minutes, and the rate of GIN's published code (the paper prints 3e-2, which can
only be 3e-4). `quick` shows the bundled digits for a moment. `python benchmarks/augmented_gin.py STUDY` draws.
"""

from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.schedules import Drop

METRICS = ("codes:spectrum", "inversion", "reconstruction")
AUGMENTED = Plan(
    "augmented-gin",
    "digits",
    {
        "digits": "mnist",
        "steps": 12_000,
        "batch": 100,
        "optimiser": Adam(1e-3),
        "rate": Drop(1.0, 0.1, 8_000),
    },
    METRICS,
    {"samples": 4096, "on": {"part": "test"}},
)
SUPERVISED = replace(AUGMENTED, method="gin", batch=800)


def runs(scale: str) -> list[Plan]:
    """Both methods, once."""
    plans = [replace(AUGMENTED, seed=0), replace(SUPERVISED, seed=0)]
    if scale == "paper":
        return plans
    small = {"digits": "bundled", "steps": 30, "rate": None}
    return [
        replace(plan, scoring={"samples": 200}, batch=batch, **small)
        for plan, batch in zip(plans, (8, 64), strict=True)
    ]
