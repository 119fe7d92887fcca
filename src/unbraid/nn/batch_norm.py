"""Batch normalisation over the joined batch of all processes. Ioffe & Szegedy, 2015, arXiv:1502.03167."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from unbraid.distributed import gather, processes

Maps = Float[Tensor, "b c *places"]


class _Joined(_BatchNorm):
    """PyTorch's own on one process; with several, mean and variance are those of the joined batch.

    The running statistics are buffers, so that checkpoints and saved models keep them.
    """

    def forward(self, input: Maps) -> Maps:
        if not self.training or processes() == 1:
            return super().forward(input)
        x = input.float() if input.dtype == torch.bfloat16 else input
        over = [0, *range(2, x.ndim)]
        moments = torch.stack([x.mean(over), x.square().mean(over)])
        mean, square = gather(moments[None]).mean(0)  # every process has as many images
        variance = square - mean.square()
        if self.track_running_stats:
            self._remember(mean.detach(), variance.detach(), processes() * x.numel() // x.shape[1])
        scale = (variance + self.eps).rsqrt() * (1 if self.weight is None else self.weight)
        shift = -mean * scale + (0 if self.bias is None else self.bias)
        spread = (-1, *[1] * (x.ndim - 2))
        return (x * scale.view(spread) + shift.view(spread)).to(input.dtype)

    @torch.no_grad()
    def _remember(self, mean: Float[Tensor, " c"], variance: Float[Tensor, " c"], count: int) -> None:
        assert self.running_mean is not None and self.running_var is not None
        assert self.num_batches_tracked is not None and self.momentum is not None
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
        unbiased = variance * (count / (count - 1))
        self.running_var.lerp_(unbiased.to(self.running_var.dtype), self.momentum)
        self.num_batches_tracked += 1


@contextmanager
def keeping_statistics(*networks: nn.Module) -> Iterator[None]:
    """Within it, the networks normalise by the statistics of each batch and do not add them to the running ones.

    For passes of what the networks will not see once trained, such as images made from the prior.
    """
    modules = [module for network in networks for module in network.modules()]
    norms = [module for module in modules if isinstance(module, _BatchNorm) and module.track_running_stats]
    for norm in norms:
        norm.track_running_stats = False
    try:
        yield
    finally:
        for norm in norms:
            norm.track_running_stats = True


class BatchNorm1d(_Joined, nn.BatchNorm1d):
    """Of rows."""


class BatchNorm2d(_Joined, nn.BatchNorm2d):
    """Of maps."""
