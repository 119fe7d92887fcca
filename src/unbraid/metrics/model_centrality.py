"""ModelCentrality. Lin et al., 2020, InfoGAN-CR and ModelCentrality, arXiv:1906.06034."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from unbraid.metrics.arrays import as_codes

PRIORS = ("uniform", "normal")


class ModelCentrality(NamedTuple):
    score: float  # centrality of the best model
    best: int
    per_model: Float[np.ndarray, " m"]  # mean agreement with the other models
    agreement: Float[np.ndarray, "m m"]  # symmetrized

    higher_is_better = True
    bounds = (0.0, 1.0)


def model_centrality(agreement: np.ndarray) -> ModelCentrality:
    r"""Mean agreement of the most central of several models with the others.

    .. math:: c_i = 1/(M - 1) \sum_{j \ne i} ½ (A_{ij} + A_{ji})

    A_ij is the accuracy with which the encoder of model j predicts the fixed dimension of images from the generator of
    model i: a FactorVAE score with model i as the ground truth, as computed by `cross_votes`. The diagonal is ignored.
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
    decode_fn: Sequence[Callable[[np.ndarray], np.ndarray]],
    encode_factors: Sequence[Callable[[np.ndarray], np.ndarray]],
    *,
    latent_dim: int,
    rng: np.random.Generator,
    groups: int = 500,
    size: int = 100,
    prior: str = "uniform",
) -> Float[np.ndarray, "m m"]:
    """Agreement matrix of models, from their functions from codes to images and from images to codes.

    Model i generates `groups` groups of `size` images from its prior (`uniform` on [-1, 1] or standard `normal`), with
    one of its `latent_dim` dimensions fixed in each group. Model j encodes them and votes for its dimension of least
    relative variance. The agreement is the accuracy of the majority vote on the same groups (protocol of InfoGAN-CR,
    without held-out votes). Constant dimensions of model j do not vote. The diagonal is 1.
    """
    if prior not in PRIORS:
        raise ValueError(f"prior must be one of {', '.join(PRIORS)}; got {prior!r}.")
    if len(decode_fn) != len(encode_factors) or len(decode_fn) < 2:
        raise ValueError(
            "each of at least two models needs a decode_fn and an encode_factors function; "
            f"got {len(decode_fn)} and {len(encode_factors)}."
        )
    models = len(decode_fn)
    agreement = np.eye(models)
    for i in range(models):
        codes = rng.uniform(-1, 1, (groups, size, latent_dim))
        if prior == "normal":
            codes = rng.standard_normal((groups, size, latent_dim))
        fixed = rng.integers(latent_dim, size=groups)
        codes[np.arange(groups), :, fixed] = codes[np.arange(groups), :1, fixed]
        images = decode_fn[i](codes.reshape(groups * size, latent_dim))
        for j in range(models):
            if i != j:
                agreement[i, j] = _vote_accuracy(encode_factors[j](images), fixed, groups, size)
    return agreement


def _vote_accuracy(encoded: np.ndarray, fixed: np.ndarray, groups: int, size: int) -> float:
    encoded = as_codes(encoded, name="encode_factors(images)", samples=groups * size)
    variance = encoded.var(axis=0)
    alive = variance > 0
    if not alive.any():
        return 0.0
    local = encoded[:, alive].reshape(groups, size, -1).var(axis=1) / variance[alive]
    votes = np.zeros((local.shape[1], fixed.max() + 1), dtype=np.int64)
    np.add.at(votes, (local.argmin(axis=1), fixed), 1)
    return float(votes.max(axis=1).sum() / groups)
