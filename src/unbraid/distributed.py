"""Devices and processes: the device of a name, and operations on the global batch of several processes.

All processes have equal default generators and sample the noise of the global batch, so that n processes with b images
each compute what one process computes with n·b images.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

T = TypeVar("T", bound=tuple)
R = TypeVar("R")


def world_size() -> int:
    """The number of processes in the process group; 1 without a process group."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    """The rank of this process, from 0."""
    return dist.get_rank() if world_size() > 1 else 0


def local_shard(global_rows: Tensor) -> Tensor:
    """The rows of a global tensor that belong to this process."""
    if world_size() == 1:
        return global_rows
    rows = len(global_rows) // world_size()
    return global_rows[rank() * rows : (rank() + 1) * rows]


def shard_batch(batch: T) -> T:
    """The shard of a global batch that belongs to this process; fields that are None stay None."""
    if world_size() == 1:
        return batch
    return type(batch)(*(None if field is None else local_shard(field) for field in batch))  # type: ignore[arg-type]


class _AllGather(torch.autograd.Function):
    """Rows of all processes in rank order; backward sums the gradients of all processes for each row."""

    @staticmethod
    def forward(ctx: Any, local: Tensor) -> Tensor:
        shards = [torch.empty_like(local) for _ in range(world_size())]
        dist.all_gather(shards, local.contiguous())
        return torch.cat(shards)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _ReduceShard.apply(*gradients)  # type: ignore[return-value]


class _ReduceShard(torch.autograd.Function):
    """This process's rows of the sum over processes. With _AllGather as backward, second derivatives exist."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        rows = rows.clone(memory_format=torch.contiguous_format)  # all_reduce writes in place
        dist.all_reduce(rows)
        return local_shard(rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _AllGather.apply(*gradients)  # type: ignore[return-value]


def all_gather(local: Tensor) -> Tensor:
    """The rows of all processes, with gradients; the tensor itself on one process.

    A loss of gathered rows has the same value on every process. Gathering sums gradients over the processes and the
    training loop averages them, so they equal the gradients of the global batch.
    """
    return local if world_size() == 1 else _AllGather.apply(local)  # type: ignore[return-value]


def all_reduce_mean(values: Tensor) -> Tensor:
    """The mean of a tensor over the processes, in place."""
    if world_size() > 1:
        dist.all_reduce(values)
        values /= world_size()
    return values


def random_for_global_batch(
    sampler: Callable[..., Tensor], like: Tensor, *shape: int, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Random numbers `sampler(rows, *shape)` for the global batch, of which `like` is the local shard."""
    return sampler(len(like) * world_size(), *shape, device=like.device, dtype=dtype)


def noise_like(local: Tensor) -> Tensor:
    """Standard normal noise from torch's default generator: the local shard of the global noise."""
    return local_shard(random_for_global_batch(torch.randn, local, *local.shape[1:], dtype=local.dtype))


def any_rank(conditions: Sequence[bool], device: torch.device) -> tuple[bool, ...]:
    """Which conditions hold on at least one process, so that all processes act alike."""
    if world_size() == 1:
        return tuple(conditions)
    flags = torch.tensor([float(condition) for condition in conditions], device=device)
    return tuple(bool(fraction) for fraction in all_reduce_mean(flags).tolist())


def on_rank_zero(action: Callable[[], R]) -> R:
    """The result of an action of the first process, for all processes; all fail together if it fails."""
    outcome: list[Any] = [None, None]
    if rank() == 0:
        try:
            outcome[0] = action()
        except (ValueError, OSError) as error:
            if world_size() == 1:
                raise
            outcome[1] = str(error)
    if world_size() > 1:
        dist.broadcast_object_list(outcome)
        if outcome[1] is not None:
            raise ValueError(outcome[1])
    return outcome[0]


def init_distributed(device: str, devices: int, nodes: int) -> torch.device:
    """The device of this process; starts further processes with Lightning Fabric if needed."""
    if devices * nodes == 1:
        return choose_device(device)
    try:
        from lightning_fabric import Fabric
    except ImportError:
        raise ValueError(
            "Training on several devices requires Lightning Fabric: pip install 'unbraid[distributed]'."
        ) from None
    kind = choose_device(device).type
    fabric = Fabric(accelerator=kind, devices=devices, num_nodes=nodes, strategy="ddp")
    fabric.launch()
    return fabric.device


def choose_device(name: str = "auto") -> torch.device:
    """The torch device of a name; `auto` is CUDA if available, otherwise MPS if available, otherwise the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    kind = name.split(":")[0]
    if kind not in ("cpu", "cuda", "mps"):
        raise ValueError(f"There is no device {name!r}: choose auto, cpu, cuda, cuda:N or mps.")
    if kind == "cuda" and not torch.cuda.is_available():
        raise ValueError("This machine has no CUDA device that torch can use: choose --device cpu or auto.")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ValueError("This machine has no Apple GPU that torch can use: choose --device cpu or auto.")
    try:
        return torch.device(name)
    except RuntimeError:
        raise ValueError(f"There is no device {name!r}: choose auto, cpu, cuda, cuda:N or mps.") from None


def is_usable(name: str) -> bool:
    """Whether this process can still compute on the device; some CUDA errors make a device unusable for a process."""
    if not torch.cuda.is_initialized():
        return True
    try:
        torch.rand(1, device=choose_device(name)).item()
    except RuntimeError:
        return False
    return True
