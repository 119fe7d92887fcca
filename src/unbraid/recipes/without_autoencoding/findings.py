"""The paper's findings over seeds, and independent subembeddings, which are ours, on digit and background.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding. Short enough to run at `paper` scale: a small
network and 4,000 steps on real digits and photographs at half their size, without crops and color jitter. With crops,
with the paper's eight dimensions per subembedding, or with a ResNet, the digit was not encoded in so few steps
(docs/results/p5_subembeddings.md). The score to maximize is the `disentanglement_gap` of z. It counts if each
subembedding stays within two points of z on its own factor, and z within two points of the run without a regularizer:
`python benchmarks/subembeddings.py STUDY` checks both.
"""

from unbraid.optimizers import Adam
from unbraid.recipes.without_autoencoding import INDEPENDENT, plan, supervised
from unbraid.schedules import Cosine
from unbraid.studies import Plan, replace

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
STEPS = 4_000


def runs(scale: str) -> list[Plan]:
    """The supervised pipeline and all settings, three seeds each; one seed at quick scale."""
    plans = []
    for seed in range(1 if scale == "quick" else 3):
        plans += [shortened(supervised(scale, seed=seed), scale)]
        base = subembeddings(scale, seed=seed)
        plans += [replace(base, **options) for options in SETTINGS.values()]
        plans += [replace(base, method=INDEPENDENT, **options) for options in OURS.values()]
    return plans


def subembeddings(scale: str, *, seed: int, steps: int | None = None) -> Plan:
    """Two subembeddings without a regularizer."""
    sizes: dict[str, object] = (
        {"embedding_dim": 32} if scale == "quick" else {"embedding_dim": 128, "temperature": 0.1}
    )
    return shortened(replace(plan(scale, "subinfomax", seed=seed), **sizes), scale, steps)


def shortened(entry: Plan, scale: str, steps: int | None = None) -> Plan:
    """The plan with the small network on images of half the size without crops, as at quick scale."""
    if scale == "quick":
        return entry if steps is None else replace(entry, steps=steps, lr_schedule=Cosine(1.0, 0.0, steps))
    steps = steps or STEPS
    options: dict[str, object] = {
        "crop": 1.0,
        "color_jitter": 0.0,
        "optimizer": Adam(3e-3),
        "precision": "float32",
    }
    options |= {
        "architecture": "conv",
        "image_size": 32,
        "steps": steps,
        "lr_schedule": Cosine(1.0, 0.0, steps),
    }
    return replace(entry, **options)
