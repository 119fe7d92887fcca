"""Sets and noise that are drawn once, as in the paper, against new noise and new sets at every step, on digits.

Self-supervised Disentangled Representation Learning, 2021, Sec. 4.3. Settings of `figure2` at `short`. A flow can
memorize sets that never change; the knees on training and on test digits, of which some training digits are held out,
show how far it does. Both are logged through training.
"""

from typing import Any

from unbraid.recipes.augmented_gin.figure2 import augmented, on_both_splits
from unbraid.studies import Plan

SCALES = ("quick", "short")
FRESH_NOISE: dict[str, Any] = {"noise": 0.01, "fixed_noise": 0.0}
SETTINGS: tuple[dict[str, Any], ...] = ({}, FRESH_NOISE, {**FRESH_NOISE, "fresh_each_step": True})
HELD_OUT = 1 / 30  # of the training digits: 2,000


def runs(scale: str) -> list[Plan]:
    """Fixed sets with fixed noise, fixed sets with new noise, and new sets; three seeds, one at quick scale."""
    seeds = range(1 if scale == "quick" else 3)
    held_out = {"val_fraction": HELD_OUT, "val_every": 1_000}
    return on_both_splits(
        [augmented(scale, seed=seed, **held_out, **options) for options in SETTINGS for seed in seeds]
    )
