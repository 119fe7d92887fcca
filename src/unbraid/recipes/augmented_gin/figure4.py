"""The spectrum of digits before and after training: a knee near twenty codes.

Self-supervised Disentangled Representation Learning, 2021, App. C and Fig. 4. The runs are those of `figure2` without
the supervised one; `python benchmarks/augmented_gin.py STUDY --out FOLDER` draws both spectra.
"""

from unbraid.plan import Plan
from unbraid.recipes.augmented_gin import figure2

PUBLISHED = {("augmented-gin", "codes:spectrum"): 20.0}  # "nearly 20 latent variables", Sec. 4.3


def runs(scale: str) -> list[Plan]:
    """Augmented GIN on digits, once."""
    return figure2.runs(scale)[:1]
