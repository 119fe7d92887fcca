"""ModelCentrality. Lin et al., 2020, InfoGAN-CR and ModelCentrality, arXiv:1906.06034."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes

PRIORS = ("uniform", "normal")


class ModelCentrality(NamedTuple):
    score: float  # of the best model
    best: int
    per_model: Float[np.ndarray, " m"]  # mean agreement with the other models
    agreement: Float[np.ndarray, "m m"]  # symmetrised


def model_centrality(agreement: np.ndarray) -> ModelCentrality:
    r"""Which of several models the others agree with most.

    .. math:: c_i = 1/(M - 1) \sum_{j \ne i} ½ (A_{ij} + A_{ji})

    A_ij is how well model j's encoder finds which code was fixed in images of model i's generator: a
    FactorVAE score with model i as the truth, as `cross_votes` measures it. The diagonal is not read.
    """
    agreement = as_codes(agreement, name="agreement")
    if agreement.shape[0] != agreement.shape[1]:
        raise ValueError(f"agreement must be square, models by models; got shape {agreement.shape}.")
    models = len(agreement)
    symmetric = (agreement + agreement.T) / 2
    per_model = (symmetric.sum(axis=1) - np.diag(symmetric)) / (models - 1)
    best = int(per_model.argmax())
    return ModelCentrality(float(per_model[best]), best, per_model, symmetric)


def cross_votes(
    generate: Sequence[Callable[[np.ndarray], np.ndarray]],
    represent: Sequence[Callable[[np.ndarray], np.ndarray]],
    *,
    codes: int,
    rng: np.random.Generator,
    groups: int = 500,
    size: int = 100,
    prior: str = "uniform",
) -> Float[np.ndarray, "m m"]:
    """The agreement matrix of models given as plain functions: codes to images, and images to codes.

    Model i draws `groups` groups of `size` images from its prior (`uniform` on [-1, 1] or standard
    `normal`), one of its `codes` codes fixed in each; model j encodes them, votes for its code of least
    relative variance, and scores the accuracy of the majority table on these groups (InfoGAN-CR's
    protocol: no held-out votes). Constant codes of model j do not vote. The diagonal is set to 1.
    """
    if prior not in PRIORS:
        raise ValueError(f"prior must be one of {', '.join(PRIORS)}; got {prior!r}.")
    if len(generate) != len(represent) or len(generate) < 2:
        raise ValueError(
            "each of at least two models needs a generate and a represent function; "
            f"got {len(generate)} and {len(represent)}."
        )
    models = len(generate)
    agreement = np.eye(models)
    for i in range(models):
        drawn = rng.uniform(-1, 1, (groups, size, codes))
        if prior == "normal":
            drawn = rng.standard_normal((groups, size, codes))
        fixed = rng.integers(codes, size=groups)
        drawn[np.arange(groups), :, fixed] = drawn[np.arange(groups), :1, fixed]
        images = generate[i](drawn.reshape(groups * size, codes))
        for j in range(models):
            if i != j:
                agreement[i, j] = _vote_accuracy(represent[j](images), fixed, groups, size)
    return agreement


def _vote_accuracy(encoded: np.ndarray, fixed: np.ndarray, groups: int, size: int) -> float:
    encoded = as_codes(encoded, name="represent(images)", samples=groups * size)
    spread = encoded.var(axis=0)
    alive = spread > 0
    if not alive.any():
        return 0.0
    local = encoded[:, alive].reshape(groups, size, -1).var(axis=1) / spread[alive]
    votes = np.zeros((local.shape[1], fixed.max() + 1), dtype=np.int64)
    np.add.at(votes, (local.argmin(axis=1), fixed), 1)
    return float(votes.max(axis=1).sum() / groups)
