"""Protocols: published sample sizes and variants of metrics."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from unbraid.evaluation.arrays import Arrays
from unbraid.evaluation.ground_truth import GroundTruth

Variant = Callable[[GroundTruth | Arrays], Mapping[str, Any]]  # from a sample to arguments of the metric


class Protocol(NamedTuple):
    """Sample sizes, and the variant of each metric that differs from its default."""

    num_samples: int
    num_test_samples: int  # 0: predictors are tested on their training sample, where a metric allows it
    metrics: Mapping[str, Variant]


def named(protocol: str) -> Variant:
    """The variant of a metric that its argument `protocol` chooses."""
    return lambda sample: {"protocol": protocol}


def infogan_cr_sap(sample: GroundTruth | Arrays) -> dict[str, Any]:
    """SAP classifies factors without order, and predicts all others by regression."""
    types = tuple("discrete" if name in sample.unordered else "continuous" for name in sample.names)
    return {"protocol": "infogan_cr", "factor_types": types}


def infogan_cr_dci(sample: GroundTruth | Arrays) -> dict[str, Any]:
    """DCI with the published depths of the forests, or with cross-validated depths for other factors."""
    return {"protocol": "infogan_cr" if sample.factor_sizes == DSPRITES else "infogan_cr_cv_sampled"}


DSPRITES = (3, 6, 40, 32, 32)  # InfoGAN-CR publishes the depth of a forest for each of these factors
PROTOCOLS = {
    "disentanglement_lib": Protocol(10_000, 5_000, {}),
    "infogan_cr": Protocol(
        73_728,
        0,
        {
            "sap": infogan_cr_sap,
            "dci": infogan_cr_dci,
            "factor_vae_score": named("infogan_cr"),
            "beta_vae_score": named("infogan_cr"),
        },
    ),
    # As disentanglement_lib, with fast variants of the three scores that take minutes.
    "fast": Protocol(
        10_000,
        5_000,
        {"dci": named("histogram"), "factor_vae_score": named("grid"), "beta_vae_score": named("grid")},
    ),
}
