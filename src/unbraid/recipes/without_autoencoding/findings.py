"""What the paper found, over seeds, and what goes past it: every regulariser beside ours, on digit and background.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding. Short enough to be run whole: `paper` has a small
network and 4,000 steps on real digits and photographs at half their size, whole and in their own colours: crops hide
the digit, and with the paper's eight dimensions a half, or with a ResNet, it was not found in so few steps
(docs/results/p5_subembeddings.md). The number to raise is the `disentanglement_gap` of z, which counts where each half
keeps within two points of z on its own factor, and z within two points of no regulariser:
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
    "directions, ours": {"directions": 10, "pipeline": "balanced"},
}
STEPS = 4_000


def runs(scale: str) -> list[Plan]:
    """The supervised pipeline and every setting, three seeds each; one at quick scale."""
    plans = []
    for seed in range(1 if scale == "quick" else 3):
        plans += [shortened(supervised(scale, seed=seed), scale)]
        plans += [replace(subinfomax(scale, seed=seed), **options) for options in SETTINGS.values()]
    return plans


def subinfomax(scale: str, *, seed: int, steps: int | None = None) -> Plan:
    """Two subembeddings without a regulariser."""
    embedded: dict[str, object] = (
        {"embedding": 32} if scale == "quick" else {"embedding": 128, "temperature": 0.1}
    )
    return shortened(replace(plan(scale, "subinfomax", seed=seed), **embedded), scale, steps)


def shortened(entry: Plan, scale: str, steps: int | None = None) -> Plan:
    """With the small network on whole pictures of half the size, as `quick` has it already."""
    if scale == "quick":
        return entry if steps is None else replace(entry, steps=steps, rate=Cosine(1.0, 0.0, steps))
    steps = steps or STEPS
    whole: dict[str, object] = {"crop": 1.0, "colour": 0.0, "optimiser": Adam(3e-3), "precision": "float32"}
    whole |= {"architecture": "conv", "size": 32, "steps": steps, "rate": Cosine(1.0, 0.0, steps)}
    return replace(entry, **whole)
