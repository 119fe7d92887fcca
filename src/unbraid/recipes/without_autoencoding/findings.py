"""The paper's findings over seeds, and independent subembeddings, which are ours, on digit and background.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding. The small network at 32×32 with 128 dimensions
and 4,000 steps, because with the paper's eight dimensions per subembedding the digit was not encoded in so few steps
(docs/results/p5_subembeddings.md); `small` has eight with more steps. The score to maximize is the
`disentanglement_gap` of z. It counts if each subembedding stays within two points of z on its own factor, and z within
two points of the run without a regularizer: `python benchmarks/subembeddings.py STUDY` checks both.
"""

from typing import Any

from unbraid.recipes.without_autoencoding import INDEPENDENT, plan, supervised, with_steps
from unbraid.studies import Plan, replace

SCALES = ("quick", "short")
SETTINGS: dict[str, dict[str, object]] = {
    "none": {},
    "none, unified": {"pipeline": "unified"},
    "infomin": {"lambda_infomin": 0.1},
    "orthogonality": {"lambda_orthogonality": 0.1},
    "permuted orthogonality": {"lambda_permuted_orthogonality": 0.1},
    "hessian": {"lambda_hessian": 0.1, "pipeline": "unified"},
    "weak hessian": {"lambda_hessian": 0.001, "pipeline": "unified"},
    "orthogonality and hessian": {
        "lambda_orthogonality": 0.1,
        "lambda_hessian": 0.001,
        "pipeline": "unified",
    },
}
OURS: dict[str, dict[str, object]] = {
    "independent": {},
    "independent, correlation": {"lambda_correlation": 5.0},
    "independent, dependence": {"lambda_dependence": 1.0},
    "independent, directions": {"independent_directions": 10},
}
MEAN: dict[str, object] = {"orthogonality_reduction": "mean"}  # of the committed rows; the paper has a sum
STEPS = {"quick": 300, "short": 4_000}


def runs(scale: str) -> list[Plan]:
    """The supervised pipeline and all settings, three seeds each; one seed at quick scale."""
    plans = []
    for seed in range(1 if scale == "quick" else 3):
        with_labels = supervised(scale, standardize_features=scale != "quick", seed=seed)
        plans += [with_steps(with_labels, STEPS[scale])]
        base = subembeddings(scale, seed=seed, steps=STEPS[scale])
        plans += [replace(base, **MEAN, **options) for options in SETTINGS.values()]
        plans += [replace(base, method=INDEPENDENT, **options) for options in OURS.values()]
    return plans


def subembeddings(scale: str, *, seed: int, steps: int) -> Plan:
    """Two subembeddings without a regularizer."""
    sizes: dict[str, Any] = (
        {"embedding_dim": 32} if scale == "quick" else {"embedding_dim": 128, "temperature": 0.1}
    )
    return with_steps(plan(scale, "subinfomax", seed=seed, **sizes), steps)
