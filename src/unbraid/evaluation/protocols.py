"""Protocols: published sample sizes and variants of metrics."""

from collections.abc import Mapping
from typing import NamedTuple


class Protocol(NamedTuple):
    """Sample sizes, and the variant of each metric that differs from its default."""

    num_samples: int
    num_test_samples: int  # 0: predictors are tested on their training sample, where a metric allows it
    metrics: Mapping[str, str]


PROTOCOLS = {
    "disentanglement_lib": Protocol(10_000, 5_000, {}),
    "infogan_cr": Protocol(
        73_728,
        0,
        dict.fromkeys(("sap", "dci", "factor_vae_score", "beta_vae_score"), "infogan_cr"),
    ),
    # As disentanglement_lib, with fast variants of the three scores that take minutes.
    "fast": Protocol(
        10_000, 5_000, {"dci": "histogram", "factor_vae_score": "grid", "beta_vae_score": "grid"}
    ),
}
DSPRITES = (3, 6, 40, 32, 32)  # InfoGAN-CR publishes the depth of a forest for each of these factors
