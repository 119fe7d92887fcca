"""Squared norm of the background's codes. Towards Principled Objectives for Contrastive Disentanglement, 2020,
Sec. 3.1: salient codes of the background should be zero."""

from typing import NamedTuple

import numpy as np

from unbraid.metrics.arrays import as_codes


class BackgroundNorm(NamedTuple):
    score: float  # mean squared norm of the background codes
    target: float  # mean squared norm of the target's codes
    share: float  # score / target
    n_background: int

    higher_is_better = None
    bounds = (0.0, None)
    undirected = ("target",)
    lower_is_better_in = ("salient",)


def background_norm(codes: np.ndarray, background_codes: np.ndarray) -> BackgroundNorm:
    r"""Mean squared norm of the background's codes, next to that of the target.

    .. math:: E_y ‖μ(y)‖^2, \quad E_x ‖μ(x)‖^2
    """
    target = as_codes(codes)
    background = as_codes(background_codes, name="background_codes", columns=target.shape[1])
    score, target_norm = (float((rows**2).sum(axis=1).mean()) for rows in (background, target))
    share = score / target_norm if target_norm > 0 else float("inf") if score > 0 else 0.0
    return BackgroundNorm(score, target_norm, share, len(background))
