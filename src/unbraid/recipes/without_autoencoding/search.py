"""Settings of `findings`, judged on training pictures held out: embedding and temperature, then every regulariser.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, gives one weight a regulariser, for a larger
network. Here each has four, and so has the number of directions. Probes are tested on the validation part, and the
seed is one that `findings` does not have. `quick` takes one setting of each.
"""

from unbraid.plan import Plan, replace
from unbraid.recipes.without_autoencoding.findings import subinfomax

STEPS = 3_000
SEED = 100
SIZES = [{"embedding": e, "temperature": t} for e in (16, 64, 128) for t in (0.1, 0.2, 0.5)]
GRID: dict[str, list[dict[str, object]]] = {
    "infomin": [{"infomin": weight} for weight in (0.001, 0.01, 0.1, 1.0)],
    "orthogonality": [{"orthogonality": weight} for weight in (0.1, 1.0, 10.0, 100.0)],
    "permuted orthogonality": [{"permuted_orthogonality": weight} for weight in (0.1, 1.0, 10.0, 100.0)],
    "hessian": [{"hessian": weight, "pipeline": "unified"} for weight in (0.001, 0.01, 0.1, 1.0)],
    "orthogonality and hessian": [
        {"orthogonality": o, "hessian": h, "pipeline": "unified"} for o in (0.1, 10.0) for h in (0.001, 0.03)
    ],
    "correlation": [{"correlation": weight, "pipeline": "balanced"} for weight in (0.1, 0.5, 1.0, 5.0)],
    "dependence": [{"dependence": weight, "pipeline": "balanced"} for weight in (0.03, 0.1, 0.3, 1.0)],
    "directions": [{"directions": number, "pipeline": "balanced"} for number in (6, 8, 10, 12)],
}


def runs(scale: str) -> list[Plan]:
    """Sizes without a regulariser first, then regularisers with the size and temperature of `findings`."""
    quick = scale == "quick"
    base = subinfomax(scale, seed=SEED, steps=200 if quick else STEPS)
    base = replace(base, scoring={**base.scoring, "test_part": "validation"})
    grids = [SIZES, *GRID.values()]
    return [replace(base, **setting) for grid in grids for setting in (grid[:1] if quick else grid)]
