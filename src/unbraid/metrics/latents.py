"""Recovery of true latents: MCC and linear R² of as many dimensions as there are latents. MCC as in Hyvärinen and
Morioka, 2016, arXiv:1605.06336; R² also accepts linear combinations of the latents, such as rotations."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_codes
from unbraid.metrics.mcc import mcc


class LatentMCC(NamedTuple):
    score: float  # mean over latents, in [0, 1]
    per_latent: Float[np.ndarray, " k"]
    dims: Int[np.ndarray, " k"]  # the dimension matched to each latent
    n: int
    protocol: str

    higher_is_better = True
    bounds = (0.0, 1.0)


class LatentR2(NamedTuple):
    score: float  # mean over latents, at most 1
    per_latent: Float[np.ndarray, " k"]
    dims: Int[np.ndarray, " w"]  # the dimensions of highest variance, inputs of the linear map
    n: int

    higher_is_better = True
    bounds = (0.0, 1.0)


def latent_mcc(codes: np.ndarray, latents: np.ndarray, *, protocol: str = "pearson") -> LatentMCC:
    """Mean absolute correlation of latents and their matched dimensions, one to one.

    The candidates are the dimensions of highest variance, as many as there are latents. Latents recovered up to a
    rotation score less than 1 here and 1 in `latent_r2`.
    """
    codes, latents = _both(codes, latents)
    wide = highest_variance_dims(codes, latents.shape[1])
    result = mcc(codes[:, wide], latents, protocol=protocol)
    return LatentMCC(result.score, result.per_factor, wide[result.match], len(codes), protocol)


def latent_r2(codes: np.ndarray, latents: np.ndarray) -> LatentR2:
    """R² of a linear map from the dimensions of highest variance to the latents.

    The inputs are the dimensions of highest variance, as many as there are latents.
    """
    codes, latents = _both(codes, latents)
    wide = highest_variance_dims(codes, latents.shape[1])
    inputs = np.column_stack([codes[:, wide], np.ones(len(codes))])
    rest = latents - inputs @ np.linalg.lstsq(inputs, latents, rcond=None)[0]
    per_latent = 1 - rest.var(axis=0) / latents.var(axis=0)
    return LatentR2(float(per_latent.mean()), per_latent, wide, len(codes))


def highest_variance_dims(codes: Float[np.ndarray, "n d"], count: int) -> Int[np.ndarray, " w"]:
    """The `count` dimensions with the highest standard deviation, in descending order; all if there are fewer."""
    return np.argsort(-codes.std(axis=0), kind="stable")[:count]


def _both(codes: np.ndarray, latents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    codes = as_codes(codes)
    latents = as_codes(latents, name="latents", samples=len(codes))
    if (latents.std(axis=0) == 0).any():
        raise ValueError("latents must each vary; one of the columns takes a single value: drop it.")
    return codes, latents
