"""What the paper found, over seeds, and what goes past it: every regulariser beside ours, on digit and background.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding. Short enough to be run whole: `paper` has a
ResNet-18 and 3,000 steps on real digits and photographs, whole and in their own colours: crops hide the digit
(docs/results/p5_subembeddings.md). The number to raise is the `disentanglement_gap` of z, which
counts where each half keeps within two points of z on its own factor, and z within two points of no regulariser:
`python benchmarks/subembeddings.py STUDY` says so.
"""

from unbraid.optimisers import Adam
from unbraid.plan import Plan, replace
from unbraid.recipes.without_autoencoding import plan, supervised
from unbraid.schedules import Cosine

SETTINGS: dict[str, dict[str, object]] = {
    "none": {},
    "none, unified": {"pipeline": "unified"},
    "none, balanced": {"pipeline": "balanced"},
    "infomin": {"infomin": 0.1},
    "orthogonality": {"orthogonality": 0.1},
    "permuted orthogonality": {"permuted_orthogonality": 0.1},
    "hessian": {"hessian": 0.1, "pipeline": "unified"},
    "weak hessian": {"hessian": 0.001, "pipeline": "unified"},
    "orthogonality and hessian": {"orthogonality": 0.1, "hessian": 0.001, "pipeline": "unified"},
    "correlation, ours": {"correlation": 5.0, "pipeline": "balanced"},
    "dependence, ours": {"dependence": 1.0, "pipeline": "balanced"},
}


def runs(scale: str) -> list[Plan]:
    """The supervised pipeline and every setting, three seeds each; one at quick scale."""
    steps = 300 if scale == "quick" else 3_000
    plans = []
    for seed in range(1 if scale == "quick" else 3):
        plans += [supervised(scale, seed=seed)]
        plans += [replace(plan(scale, "subinfomax", seed=seed), **options) for options in SETTINGS.values()]
    if scale == "quick":
        return plans
    whole = {"crop": 1.0, "colour": 0.0, "optimiser": Adam(3e-3)}
    return [
        replace(entry, architecture="resnet-18", steps=steps, rate=Cosine(1.0, 0.0, steps), **whole)
        for entry in plans
    ]
