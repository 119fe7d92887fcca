"""The supervised pipeline and the Hessian with 1,024 pairs per step, where 256 pairs give a view about four positives.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, which does not state the batch size. Rows of
Tables 1 and 3 otherwise, one seed.
"""

from unbraid.recipes.without_autoencoding import supervised_rows
from unbraid.recipes.without_autoencoding.table3 import regularized
from unbraid.studies import Plan, replace

SCALES = ("quick", "short", "paper")


def runs(scale: str) -> list[Plan]:
    """Both supervised rows, and both weights of the Hessian."""
    plans = [
        *supervised_rows(scale),
        *(regularized(scale, "lambda_hessian", weight) for weight in (0.001, 0.1)),
    ]
    return [replace(entry, batch_size=1024) for entry in plans]
