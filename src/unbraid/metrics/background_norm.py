"""How far the background's codes lie from zero. Towards Principled Objectives for Contrastive Disentanglement, 2020,
Sec. 3.1: salient codes of the background should be zero."""

from typing import NamedTuple

import numpy as np

from unbraid.metrics.arrays import as_codes


class BackgroundNorm(NamedTuple):
    score: float  # mean squared norm of the background's codes
    target: float  # the same of the target's
    share: float  # score / target
    n: int


def background_norm(codes: np.ndarray, background_codes: np.ndarray) -> BackgroundNorm:
    r"""Whether the background's codes are zero: their mean squared norm, beside the target's.

    .. math:: E_y ‖μ(y)‖^2, \quad E_x ‖μ(x)‖^2
    """
    target = as_codes(codes)
    background = as_codes(background_codes, name="background_codes", columns=target.shape[1])
    score, beside = (float((part**2).sum(axis=1).mean()) for part in (background, target))
    share = score / beside if beside > 0 else float("inf") if score > 0 else 0.0
    return BackgroundNorm(score, beside, share, len(background))
