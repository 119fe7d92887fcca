"""Number of dimensions that vary more than noise does: a second rule beside the knee of `spectrum`."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from unbraid.metrics.arrays import as_codes

MULTIPLE = 10.0
NOISE = 0.01  # standard deviation of the noise on observations, as in augmented GIN


class AboveNoise(NamedTuple):
    score: float  # number of dimensions above the multiple
    ratios: Float[np.ndarray, " d"]  # std over the observations / std of the noise, in descending order
    order: Int[np.ndarray, " d"]  # the dimensions in this order
    multiple: float
    n: int

    higher_is_better = None
    bounds = (0.0, None)


def above_noise(codes: np.ndarray, noisy_codes: np.ndarray, *, multiple: float = MULTIPLE) -> AboveNoise:
    """Number of dimensions whose standard deviation is above a multiple of what noise on the observations gives them.

    The best score is the number of true factors. The standard deviation that the noise gives to a dimension is the root
    mean square of its change, `noisy_codes - codes`, so that the scales of dimensions do not matter. Unlike the knee of
    `spectrum`, the score does not depend on the shape of the curve. `ratios` gives the score of any other multiple.

    Args:
        codes: Codes of observations.
        noisy_codes: Codes of the same observations with noise.
        multiple: How many times as much as the noise an informative dimension varies.
    """
    codes = as_codes(codes)
    noisy = as_codes(noisy_codes, name="noisy_codes", samples=len(codes), columns=codes.shape[1])
    if not multiple > 0:
        raise ValueError(f"multiple must be positive; got {multiple}.")
    stds, noise = codes.std(axis=0), np.sqrt(np.square(noisy - codes).mean(axis=0))
    ratios = np.divide(stds, noise, out=np.where(stds > 0, np.inf, 0.0), where=noise > 0)
    order = np.argsort(-ratios, kind="stable")
    return AboveNoise(float((ratios > multiple).sum()), ratios[order], order, multiple, len(codes))
