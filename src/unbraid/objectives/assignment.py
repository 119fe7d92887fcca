"""The cheapest one-to-one match of two batches: exact, on the host by SciPy and on a CUDA device by kernels of our own,
so that a step need not wait for the host and can be recorded as a graph."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor

# Triton comes with every CUDA build of torch for Linux. Without it the costs go to the host and back.
ON_HOST = (
    None
    if find_spec("triton")
    else "the assignment is solved on the host, since Triton is not installed: pip install triton"
)


def assignment(cost: Float[Tensor, "n n"]) -> Int[Tensor, " n"]:
    """The column matched to each row such that the sum of the costs is least. No gradient passes."""
    return _solve(cost.detach()[None])[0]


@torch.library.custom_op("unbraid::assignment", mutates_args=())
def _solve(costs: Tensor) -> Tensor:
    """The same for a stack of problems (p, n, n), as one operation that compilers and `vmap` leave whole."""
    if costs.is_cuda and ON_HOST is None:
        from unbraid.objectives.assignment_kernels import solve

        return solve(costs)
    return _solve_on_host(costs.cpu().double().numpy()).to(costs.device)


@_solve.register_fake
def _(costs: Tensor) -> Tensor:
    return torch.empty(costs.shape[:2], dtype=torch.long, device=costs.device)


@_solve.register_vmap
def _(info: Any, in_dims: tuple[int | None, ...], costs: Tensor) -> tuple[Tensor, int]:
    stacked = costs.movedim(in_dims[0], 0)  # type: ignore[arg-type]
    return _solve(stacked.flatten(0, 1)).unflatten(0, stacked.shape[:2]), 0


def _solve_on_host(costs: np.ndarray) -> Tensor:
    finite = np.nan_to_num(costs, nan=0.0)  # a loss that is not finite is told by the loop, not by SciPy
    return torch.from_numpy(np.stack([linear_sum_assignment(cost)[1] for cost in finite]).astype(np.int64))
