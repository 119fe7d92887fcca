"""Several processes as one: joined codes, joined noise, and each process's share of a batch.

Every process holds the same default generator and draws the noise of the whole batch, so that n processes
with b images each compute what one process computes with the n·b images joined.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from unbraid.devices import choose_device

T = TypeVar("T", bound=tuple)


def processes() -> int:
    """How many processes train together; 1 without a process group."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    """The place of this process among them, from 0."""
    return dist.get_rank() if processes() > 1 else 0


def share(joined: Tensor) -> Tensor:
    """The rows of a joined tensor that belong to this process."""
    if processes() == 1:
        return joined
    rows = len(joined) // processes()
    return joined[rank() * rows : (rank() + 1) * rows]


def share_batch(batch: T) -> T:
    """The part of a joined batch that belongs to this process; fields that are None stay None."""
    if processes() == 1:
        return batch
    return type(batch)(*(None if field is None else share(field) for field in batch))  # type: ignore[arg-type]


class _Gather(torch.autograd.Function):
    """Rows of all processes in rank order; backward adds up the gradients that they have for a row."""

    @staticmethod
    def forward(ctx: Any, local: Tensor) -> Tensor:
        parts = [torch.empty_like(local) for _ in range(processes())]
        dist.all_gather(parts, local.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _Share.apply(*gradients)  # type: ignore[return-value]


class _Share(torch.autograd.Function):
    """This process's rows of the sum over all; each is the other's backward, so gradients have gradients too."""

    @staticmethod
    def forward(ctx: Any, joined: Tensor) -> Tensor:
        joined = joined.clone(memory_format=torch.contiguous_format)  # others may hold the same tensor
        dist.all_reduce(joined)
        return share(joined)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _Gather.apply(*gradients)  # type: ignore[return-value]


def gather(local: Tensor) -> Tensor:
    """The joined rows of all processes, through which gradients flow; the tensor itself on one process.

    A loss computed on gathered rows is the same number on every process. Gathering sums the gradient over the
    processes and the loop then averages it over them, so it comes out as that of the joined batch.
    """
    return local if processes() == 1 else _Gather.apply(local)  # type: ignore[return-value]


def mean_over_processes(values: Tensor) -> Tensor:
    """The average of a tensor over the processes, in place."""
    if processes() > 1:
        dist.all_reduce(values)
        values /= processes()
    return values


def joined(
    draw: Callable[..., Tensor], like: Tensor, *shape: int, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Random numbers `draw(rows, *shape)` for the joined batch of which `like` is this process's share."""
    return draw(len(like) * processes(), *shape, device=like.device, dtype=dtype)


def noise_like(local: Tensor) -> Tensor:
    """Standard normal noise from torch's default generator, the share of this process."""
    return share(joined(torch.randn, local, *local.shape[1:], dtype=local.dtype))


def on_any_process(conditions: Sequence[bool], device: torch.device) -> tuple[bool, ...]:
    """Which of the conditions hold on one process at least, so that all of them act alike."""
    if processes() == 1:
        return tuple(conditions)
    flags = torch.tensor([float(condition) for condition in conditions], device=device)
    return tuple(bool(share) for share in mean_over_processes(flags).tolist())


def launch(device: str, devices: int, nodes: int) -> torch.device:
    """The device of this process; with several, starts the others by Lightning Fabric first."""
    if devices * nodes == 1:
        return choose_device(device)
    try:
        from lightning_fabric import Fabric
    except ImportError:
        raise ValueError(
            "Training on several devices needs Lightning Fabric: pip install 'unbraid[distributed]'."
        ) from None
    kind = choose_device(device).type
    fabric = Fabric(accelerator=kind, devices=devices, num_nodes=nodes, strategy="ddp")
    fabric.launch()
    return fabric.device
