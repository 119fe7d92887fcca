"""Orthogonality, its permuted form and the Hessian on digit and background class: Burns et al., 2021, Table 3."""

from unbraid.recipes.without_autoencoding import cells, plan
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")
# By regularizer and weight: z, z0, z1 and the gap |C(z0) - C(z1)|, each for digit and background.
TABLE = {
    ("lambda_orthogonality", 0.001): ((97.0, 62.4), (76.6, 48.4), (73.2, 54.0), (3.4, 5.6)),
    ("lambda_orthogonality", 0.1): ((69.3, 59.6), (51.2, 39.9), (46.3, 42.7), (4.9, 2.8)),
    ("lambda_permuted_orthogonality", 0.001): ((97.0, 62.2), (77.1, 52.4), (71.8, 57.0), (5.3, 4.6)),
    ("lambda_permuted_orthogonality", 0.1): ((97.2, 61.6), (88.0, 56.9), (82.2, 60.0), (5.8, 3.1)),
    ("lambda_hessian", 0.001): ((92.4, 57.2), (60.7, 46.7), (47.9, 34.6), (12.8, 12.1)),
    ("lambda_hessian", 0.1): ((93.6, 56.3), (74.7, 42.4), (57.5, 50.9), (17.2, 8.5)),
}
ROWS = ("z", "z0", "z1", "gap of z")
PUBLISHED = {
    key: value
    for (name, weight), values in TABLE.items()
    for key, value in cells(
        "subinfomax", f"{name}={weight}", "dc-bc", dict(zip(ROWS, values, strict=True))
    ).items()
}


def regularized(scale: str, name: str, weight: float, variant: str = "dc-bc", seed: int = 0) -> Plan:
    """One regularizer in the pipeline that the paper uses for it."""
    pipeline = "unified" if name == "lambda_hessian" else "separate"
    return replace(plan(scale, "subinfomax", variant, pipeline=pipeline, seed=seed), **{name: weight})


def runs(scale: str) -> list[Plan]:
    """One run per regularizer and weight."""
    return [regularized(scale, name, weight) for name, weight in TABLE]
