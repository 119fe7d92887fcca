"""The moments of a set, and moments that an encoder predicts from the observation: the paper finds no difference.

Self-supervised Disentangled Representation Learning, 2021, Sec. 4.1, on the data of Fig. 1: augmented along both
latents and along one, with standard deviations that identify the axes, and with the noise and training of the paper and
ours. Trials 0 to 9; the first two at quick scale.
"""

from unbraid.recipes.augmented_gin.figure1 import ALONG_ONE, BASE, VARYING, decayed, plain
from unbraid.studies import Plan, replace

SCALES = ("quick", "paper")
SETTINGS: tuple[dict[str, object], ...] = (
    plain(1e-2),
    plain(1e-2) | ALONG_ONE,
    decayed(0.5, 0.05, fresh_each_step=True) | VARYING,
)


def runs(scale: str) -> list[Plan]:
    """Each setting with both moments."""
    quick = scale == "quick"
    settings = [SETTINGS[0] | {"steps": 100}] if quick else SETTINGS
    plans = [
        replace(BASE, **options, moments=moments) for options in settings for moments in ("set", "encoder")
    ]
    return [
        replace(plan, data_seed=trial, seed=trial) for plan in plans for trial in range(2 if quick else 10)
    ]
