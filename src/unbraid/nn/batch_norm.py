"""Batch normalization over the global batch of all processes. Ioffe & Szegedy, 2015, arXiv:1502.03167."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from unbraid.distributed import all_gather, world_size

Maps = Float[Tensor, "b c *positions"]


class _GlobalBatchNorm(_BatchNorm):
    """PyTorch's batch normalization on one process; with several, mean and variance are those of the global batch.

    The running statistics are buffers, so that checkpoints and saved models keep them. Those of a background dataset
    may be separate (Chang et al., 2019, Domain-Specific Batch Normalization, arXiv:1906.03950; here scale and shift
    stay shared).
    """

    normalizes_background = False

    def separate_background(self) -> None:
        """Adds running statistics of the background."""
        assert self.running_mean is not None and self.running_var is not None
        self.register_buffer("background_mean", torch.zeros_like(self.running_mean))
        self.register_buffer("background_var", torch.ones_like(self.running_var))

    def _running_stats(self) -> tuple[Tensor | None, Tensor | None]:
        if self.normalizes_background:
            return cast(Tensor, self.background_mean), cast(Tensor, self.background_var)
        return self.running_mean, self.running_var

    def forward(self, input: Maps) -> Maps:
        if self.training and world_size() > 1:
            return self._normalize_global_batch(input)
        if not self.normalizes_background:
            return super().forward(input)
        stats = self._running_stats() if self.track_running_stats or not self.training else (None, None)
        momentum = 0.0 if self.momentum is None else self.momentum
        return F.batch_norm(input, *stats, self.weight, self.bias, self.training, momentum, self.eps)

    def _normalize_global_batch(self, input: Maps) -> Maps:
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
        running_mean, running_var = self._running_stats()
        assert running_mean is not None and running_var is not None
        assert self.num_batches_tracked is not None and self.momentum is not None
        running_mean.lerp_(mean.to(running_mean.dtype), self.momentum)
        unbiased = variance * (count / (count - 1))
        running_var.lerp_(unbiased.to(running_var.dtype), self.momentum)
        if not self.normalizes_background:
            self.num_batches_tracked += 1


def separate_background_stats(*networks: nn.Module) -> int:
    """Gives every batch normalization of the networks running statistics of the background; returns their number."""
    norms = [
        module for network in networks for module in network.modules() if isinstance(module, _GlobalBatchNorm)
    ]
    for norm in norms:
        norm.separate_background()
    return len(norms)


@contextmanager
def background_batch_stats(*networks: nn.Module) -> Iterator[None]:
    """Context in which the networks normalize the background: with its running statistics where they are separate."""
    modules = [module for network in networks for module in network.modules()]
    norms = [m for m in modules if isinstance(m, _GlobalBatchNorm) and "background_mean" in m._buffers]
    for norm in norms:
        norm.normalizes_background = True
    try:
        yield
    finally:
        for norm in norms:
            norm.normalizes_background = False


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
