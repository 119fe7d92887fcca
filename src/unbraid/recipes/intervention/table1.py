"""Disentanglement on dSprites with x-position and scale correlated, and with independent factors (Table 1).

Unsupervised Disentanglement Learning by Intervention, 2021: 200,000 training and 50,000 test images. `paper` has ten
seeds of 100,000 steps, our reading, each scored at 10,000 and 30,000 steps, too (β-TCVAE: at a quarter of them), with
our sequential form beside the five methods. At the earlier lengths the schedules of the sequential form and of
InfoGAN-CR are not at their end. Algorithm 1 as printed, whose steps take far longer, has one seed on correlated
factors, and so has InfoGAN-CR with the 322,560 steps of its authors. `short` has 10,000 steps, three seeds on
correlated factors and one on independent ones: by the measured rates eight minutes on one H200. `quick` uses rendered
sprites at 32×32.
"""

from unbraid.recipes.intervention import (
    AS_PRINTED,
    SEEDS,
    SHORT,
    SHORT_SEEDS,
    STEPS,
    at_lengths,
    in_small_batches,
    plans,
    published,
    settings_of,
    shortened,
    with_ours,
)
from unbraid.studies import Plan, first_seeds, replace

SCALES = ("quick", "short", "paper")
AUTHORS_STEPS, AUTHORS_START = 322_560, 288_000  # of InfoGAN-CR
PUBLISHED = published(
    "dsprites",
    "pos_x-scale",
    """
    0.73 0.55 0.62 0.60 0.46 0.54
    0.72 0.56 0.63 0.63 0.47 0.57
    0.62 0.54 0.55 0.55 0.46 0.46
    0.73 0.58 0.50 0.68 0.51 0.45
    0.76 0.55 0.62 0.74 0.51 0.59
    """,
)


def runs(scale: str) -> list[Plan]:
    """The methods on both distributions, correlated factors first."""
    if scale == "quick":
        steps, printed = 100, {"steps": 20, **AS_PRINTED}
        every = in_small_batches(
            plans("sprites", steps, 1, methods=methods("sprites", steps)), holdout_size=1_000
        )
        return [*at_lengths(every, (0.3,)), *(replace(plan, **printed) for plan in app_c(every)[:1])]
    if scale == "short":
        steps = SHORT["dsprites"]
        settings = with_ours(shortened("dsprites", steps), steps)
        every = plans("dsprites", steps, SHORT_SEEDS, methods=settings)
        correlated = [plan for plan in every if plan.options["correlate"]]
        return [*correlated, *first_seeds([plan for plan in every if plan not in correlated], 1)]
    every = plans("dsprites", STEPS, SEEDS, methods=methods("dsprites", STEPS))
    [gan, *_] = (plan for plan in every if plan.method == "infogan-cr")
    return [
        *at_lengths(every),
        *at_lengths([replace(plan, **AS_PRINTED) for plan in app_c(every)[:1]]),
        replace(gan, steps=AUTHORS_STEPS, contrast_start_step=AUTHORS_START),
    ]


def methods(data: str, steps: int) -> dict[str, dict[str, object]]:
    """The paper's methods and ours."""
    return with_ours(settings_of(data, steps), steps)


def app_c(every: list[Plan]) -> list[Plan]:
    """The plans of the intervention autoencoder, those on correlated factors first."""
    return [plan for plan in every if plan.method == "intervention"]
