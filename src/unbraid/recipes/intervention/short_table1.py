"""Table 1 shortened to three seeds of 10,000 steps, with a variant and the sequential intervention autoencoder.

Unsupervised Disentanglement Learning by Intervention, 2021. The paper has ten seeds and does not state the steps.
β-TCVAE, whose batches have 2,048 images, is trained for 2,500 steps. The variant of App. C's method has no translation.
The sequential intervention autoencoder, ours, has a bottleneck; in two settings features become active one after the
other while the weight of the bottleneck decreases. `quick` is the quick Table 1.
"""

from unbraid.recipes.intervention import (
    SHORT,
    SHORT_SEEDS,
    sequential,
    shortened,
    table1,
    unpublished,
    with_networks,
)
from unbraid.recipes.intervention import plans as plans_of
from unbraid.schedules import Exponential
from unbraid.studies import Plan


def variants(steps: int) -> dict[str, dict[str, object]]:
    """Variants of the intervention autoencoder, and settings of the sequential one, by name."""
    ours = sequential(steps)
    stronger = {"beta": 0.5, "beta_schedule": Exponential(16.0, 1.0, steps)}
    saturating = {name: value for name, value in ours.items() if name != "saturating"}
    return {
        "intervention without translation": {"lambda_translation": 0.0},
        "sequential-intervention with a bottleneck": {"beta": 1.0},
        "sequential-intervention with a bottleneck, without translation": {
            "beta": 1.0,
            "lambda_translation": 0.0,
        },
        "sequential-intervention sequential features": saturating | stronger,
        "sequential-intervention sequential features, weaker bottleneck": ours,
    }


PUBLISHED = table1.PUBLISHED | unpublished(variants(SHORT["dsprites"]))


def runs(scale: str) -> list[Plan]:
    """Five methods and five variants on both distributions."""
    return table1.runs(scale) if scale == "quick" else plans("dsprites", SHORT["dsprites"], SHORT_SEEDS)


def plans(data: str, steps: int, seeds: int) -> list[Plan]:
    """The methods and variants on a given dataset, with given steps and seeds."""
    return plans_of(data, steps, seeds, methods=shortened(data, steps) | with_networks(variants(steps)))
