"""Settings of `findings`, chosen on held-out training images: embedding size and temperature, then each regularizer.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, states one weight per regularizer, for a larger
network. Here each has four weights, and there are four numbers of directions. Probes are tested on the validation
split, with a seed that `findings` does not use. `quick` uses one setting of each.
"""

from unbraid.recipes.without_autoencoding import INDEPENDENT
from unbraid.recipes.without_autoencoding.findings import MEAN, subembeddings
from unbraid.studies import Plan, replace

SCALES = ("quick", "short")
STEPS = 3_000
SEED = 100
SIZES = [{"embedding_dim": e, "temperature": t} for e in (16, 64, 128) for t in (0.1, 0.2, 0.5)]
GRID: dict[str, list[dict[str, object]]] = {
    "infomin": [{"lambda_infomin": weight} for weight in (0.001, 0.01, 0.1, 1.0)],
    "orthogonality": [{"lambda_orthogonality": weight} for weight in (0.1, 1.0, 10.0, 100.0)],
    "permuted orthogonality": [
        {"lambda_permuted_orthogonality": weight} for weight in (0.1, 1.0, 10.0, 100.0)
    ],
    "hessian": [{"lambda_hessian": weight, "pipeline": "unified"} for weight in (0.001, 0.01, 0.1, 1.0)],
    "orthogonality and hessian": [
        {"lambda_orthogonality": o, "lambda_hessian": h, "pipeline": "unified"}
        for o in (0.1, 10.0)
        for h in (0.001, 0.03)
    ],
}
OURS: dict[str, list[dict[str, object]]] = {
    "correlation": [{"lambda_correlation": weight} for weight in (0.1, 0.5, 1.0, 5.0)],
    "dependence": [{"lambda_dependence": weight} for weight in (0.03, 0.1, 0.3, 1.0)],
    "directions": [{"independent_directions": number} for number in (6, 8, 10, 12)],
}


def runs(scale: str) -> list[Plan]:
    """Sizes without a regularizer, then regularizers with the size and temperature of `findings`."""
    quick = scale == "quick"
    base = subembeddings(scale, seed=SEED, steps=200 if quick else STEPS)
    base = replace(base, evaluation={**base.evaluation, "test_split": "validation"})
    ours = replace(base, method=INDEPENDENT)
    base = replace(base, **MEAN)
    grids = [(base, grid) for grid in (SIZES, *GRID.values())] + [(ours, grid) for grid in OURS.values()]
    return [replace(plan, **setting) for plan, grid in grids for setting in (grid[:1] if quick else grid)]
