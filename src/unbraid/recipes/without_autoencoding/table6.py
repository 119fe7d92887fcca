"""Orthogonality, its permuted form and the Hessian on digit class and location: Burns et al., 2021, Table 6."""

from unbraid.recipes.without_autoencoding import cells
from unbraid.recipes.without_autoencoding.table3 import ROWS, regularized
from unbraid.studies import Plan

SCALES = ("quick", "short", "paper")
# By regularizer and weight: z, z0, z1 and the gap |C(z0) - C(z1)|, each for digit and location.
TABLE = {
    ("lambda_orthogonality", 0.001): ((82.6, 99.6), (44.3, 99.4), (33.6, 99.5), (10.7, 0.1)),
    ("lambda_orthogonality", 0.1): ((97.8, 99.6), (46.5, 83.9), (38.4, 86.7), (8.1, 2.8)),
    ("lambda_permuted_orthogonality", 0.001): ((96.6, 99.8), (45.5, 99.6), (44.5, 99.7), (1.0, 0.1)),
    ("lambda_permuted_orthogonality", 0.1): ((68.0, 99.8), (41.3, 99.7), (34.5, 98.6), (6.8, 1.1)),
    ("lambda_hessian", 0.001): ((86.6, 99.1), (46.7, 41.5), (41.7, 67.9), (5.0, 26.4)),
    ("lambda_hessian", 0.1): ((91.2, 99.1), (39.9, 48.1), (34.8, 64.7), (5.1, 16.6)),
}
PUBLISHED = {
    key: value
    for (name, weight), values in TABLE.items()
    for key, value in cells(
        "subinfomax", f"{name}={weight}", "dc-dl", dict(zip(ROWS, values, strict=True))
    ).items()
}


def runs(scale: str) -> list[Plan]:
    """One run per regularizer and weight."""
    return [regularized(scale, name, weight, "dc-dl") for name, weight in TABLE]
