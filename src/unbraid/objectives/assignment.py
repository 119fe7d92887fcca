"""The optimal one-to-one assignment of two batches, exact: by SciPy on the host, by Triton kernels on a CUDA device.
With the kernels, a step does not synchronize with the host and can be captured as a CUDA graph."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor

# Every CUDA build of torch for Linux includes Triton. Without it, the assignment is solved on the host.
ON_HOST = (
    None
    if find_spec("triton")
    else "the assignment is solved on the host, because Triton is not installed. Run `pip install triton`"
)


def assignment(cost: Float[Tensor, "n n"]) -> Int[Tensor, " n"]:
    """The column assigned to each row so that the total cost is minimal, without gradient."""
    return _solve(cost.detach()[None])[0]


@torch.library.custom_op("unbraid::assignment", mutates_args=())
def _solve(costs: Tensor) -> Tensor:
    """`assignment` for a stack of problems (p, n, n), as one custom operator for compilers and `vmap`."""
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
    finite = np.nan_to_num(costs, nan=0.0)  # the trainer reports losses that are not finite
    return torch.from_numpy(np.stack([linear_sum_assignment(cost)[1] for cost in finite]).astype(np.int64))
