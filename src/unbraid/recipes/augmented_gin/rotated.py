"""Latents rotated by 45°, augmented with standard deviations that vary: attempts to recover both in all ten trials.

Self-supervised Disentangled Representation Learning, 2021, Fig. 1, whose theorem asks for such standard deviations; the
rotation is ours. A flow may exchange the axes in one region, which its loss does not show. Attempts: rotations in place
of permutations, standard deviations that differ by a factor of ten, 30 members per set, and both of the latter with
rotations. Each trial has three seeds; `unbraid select STUDY --by consistency` chooses among them without the latents,
and `python benchmarks/augmented_gin.py STUDY` shows the chosen ones beside all. Trials 20 to 29, as in `figure1`;
trials 0 to 9 and 17 were for trying.
"""

from unbraid.recipes.augmented_gin.figure1 import BASE, ROTATED, VARYING, decayed
from unbraid.studies import Plan, replace

SCALES = ("quick", "short")
ROTATIONS: dict[str, object] = {"architecture": "mlp-rotations"}
WIDE: dict[str, object] = {"std_ratio": 10.0}
LARGE_SETS: dict[str, object] = {"set_size": 30, "batch_size": 100}  # as many observations per step
SETTINGS: tuple[dict[str, object], ...] = (
    {},
    ROTATIONS,
    WIDE,
    LARGE_SETS,
    {**ROTATIONS, **WIDE},
    {**ROTATIONS, **LARGE_SETS},
)
SEEDS = 3


def runs(scale: str) -> list[Plan]:
    """Every attempt on every trial with three seeds; at quick scale two attempts on one trial with two."""
    quick = scale == "quick"
    trials = range(1) if quick else range(20, 30)
    return [
        rotated(trial, restart, steps=100 if quick else 1500, **options)
        for options in (SETTINGS[:2] if quick else SETTINGS)
        for trial in trials
        for restart in range(2 if quick else SEEDS)
    ]


def rotated(trial: int, restart: int, *, steps: int = 1500, **options: object) -> Plan:
    """One attempt; the first seed of a trial is that of `figure1`."""
    base = replace(BASE, **(decayed(0.5, 0.1, steps, fresh_each_step=True) | VARYING | ROTATED))
    return replace(base, **options, data_seed=trial, seed=trial + 1000 * restart)
