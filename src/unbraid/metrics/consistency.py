"""Agreement of restarts on the same dimensions everywhere, which chooses among models that their loss cannot tell
apart."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.mcc import mcc


class Consistency(NamedTuple):
    score: float  # of the best model
    best: int
    per_model: Float[np.ndarray, " m"]  # median over the other models
    pairwise: Float[np.ndarray, "m m"]  # [i, j]: agreement of models i and j; diagonal 0
    n: int
    protocol: str

    higher_is_better = True
    bounds = (0.0, 1.0)


def consistency(models: Sequence[np.ndarray], *, protocol: str = "pearson") -> Consistency:
    """Mean absolute correlation of each model's dimensions with the matched dimensions of the other models.

    Dimensions are matched once for all observations. A model that exchanges two dimensions in one region, for example
    in one component of a mixture, therefore agrees with no model that does not, although its loss may be as low. Only a
    mistake that most models share goes unnoticed.

    Args:
        models: Codes of the same observations, one array per model; usually of the informative dimensions.
        protocol: Correlation: pearson (up to scale and sign) or spearman (up to any monotone map).
    """
    if len(models) < 2:
        raise ValueError(
            f"Consistency compares models with each other: pass at least two arrays; got {len(models)}."
        )
    first = as_codes(models[0], name="models[0]")
    codes = [as_codes(model, name=f"models[{i}]", samples=len(first)) for i, model in enumerate(models)]
    pairwise = np.zeros((len(codes), len(codes)))
    for i, one in enumerate(codes):
        for j, other in enumerate(codes[:i]):
            small, large = sorted((one, other), key=lambda table: table.shape[1])
            pairwise[i, j] = pairwise[j, i] = mcc(small, large, protocol=protocol).score
    others = ~np.eye(len(codes), dtype=bool)
    per_model = np.array([np.median(pairwise[i, others[i]]) for i in range(len(codes))])
    best = int(per_model.argmax())
    return Consistency(float(per_model[best]), best, per_model, pairwise, len(first), protocol)
