"""The Hessian over six runs on digit and background class: Burns et al., 2021, Table 9."""

from unbraid.recipes.without_autoencoding import cells
from unbraid.recipes.without_autoencoding.table3 import regularized
from unbraid.recipes.without_autoencoding.table8 import mean
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
# Of each run z, z0, z1 and the gap, each for digit and background, in percent. The first run is Table 3's.
RUNS = (
    ((93.6, 56.3), (74.7, 42.4), (57.5, 50.9), (17.2, 8.5)),
    ((73.0, 56.0), (67.9, 47.9), (64.2, 49.4), (3.7, 1.5)),
    ((96.2, 56.6), (73.7, 40.4), (66.5, 43.2), (7.2, 2.8)),
    ((93.9, 56.6), (58.4, 36.6), (51.0, 37.5), (7.4, 0.9)),
    ((73.1, 58.1), (42.2, 34.8), (40.0, 30.2), (2.2, 4.6)),
    ((92.2, 56.9), (61.1, 36.4), (53.5, 37.2), (7.6, 0.8)),
)
PUBLISHED = cells("subinfomax", None, "dc-bc", mean(RUNS))  # means over the six runs


def runs(scale: str) -> list[Plan]:
    """Six seeds; two at quick scale."""
    return [
        regularized(scale, "lambda_hessian", 0.1, seed=seed) for seed in range(2 if scale == "quick" else 6)
    ]
