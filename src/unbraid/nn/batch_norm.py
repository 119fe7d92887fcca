"""Batch normalization over the global batch of all processes. Ioffe & Szegedy, 2015, arXiv:1502.03167."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from unbraid.distributed import all_gather, world_size

Maps = Float[Tensor, "b c *positions"]


class _GlobalBatchNorm(_BatchNorm):
    """PyTorch's batch normalization on one process; with several, mean and variance are those of the global batch.

    The running statistics are buffers, so that checkpoints and saved models keep them.
    """

    def forward(self, input: Maps) -> Maps:
        if not self.training or world_size() == 1:
            return super().forward(input)
        x = input.float() if input.dtype == torch.bfloat16 else input
        dims = [0, *range(2, x.ndim)]
        moments = torch.stack([x.mean(dims), x.square().mean(dims)])
        mean, square = all_gather(moments[None]).mean(0)  # every process has the same number of images
        variance = square - mean.square()
        if self.track_running_stats:
            self._update_running_stats(
                mean.detach(), variance.detach(), world_size() * x.numel() // x.shape[1]
            )
        scale = (variance + self.eps).rsqrt() * (1 if self.weight is None else self.weight)
        shift = -mean * scale + (0 if self.bias is None else self.bias)
        per_channel = (-1, *[1] * (x.ndim - 2))
        return (x * scale.view(per_channel) + shift.view(per_channel)).to(input.dtype)

    @torch.no_grad()
    def _update_running_stats(
        self, mean: Float[Tensor, " c"], variance: Float[Tensor, " c"], count: int
    ) -> None:
        assert self.running_mean is not None and self.running_var is not None
        assert self.num_batches_tracked is not None and self.momentum is not None
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
        unbiased = variance * (count / (count - 1))
        self.running_var.lerp_(unbiased.to(self.running_var.dtype), self.momentum)
        self.num_batches_tracked += 1


@contextmanager
def frozen_batch_stats(*networks: nn.Module) -> Iterator[None]:
    """Context in which the networks normalize by batch statistics without updating the running statistics.

    For inputs that do not occur at inference, such as images generated from the prior.
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


class BatchNorm1d(_GlobalBatchNorm, nn.BatchNorm1d):
    """Batch normalization of rows."""


class BatchNorm2d(_GlobalBatchNorm, nn.BatchNorm2d):
    """Batch normalization of feature maps."""
