"""Degenerate solutions of orthogonality on digit class and location: Burns et al., 2021, Table 7.

The paper shows two runs of the same setting, one that learnt nothing ("random") and one in which both halves tell the
location ("task difficulty"). Which runs come out so depends on their seeds; the scores `random`, `emptied` and
`repeated` of `disentanglement_gap` say which did.
"""

from unbraid.plan import Plan
from unbraid.recipes.without_autoencoding.table3 import regularised

# Accuracies of z, z0 and z1 for digit and location, in per cent; no seed here is one of theirs.
DEGENERATE = {
    "random": ((11.7, 12.6), (11.7, 12.6), (11.7, 12.6)),
    "task difficulty": ((76.7, 99.8), (42.0, 99.7), (32.1, 99.7)),
}


def runs(scale: str) -> list[Plan]:
    """Several seeds of the setting; six at paper scale."""
    seeds = range(2 if scale == "quick" else 6)
    return [regularised(scale, "orthogonality", 0.1, "dc-dl", seed) for seed in seeds]
