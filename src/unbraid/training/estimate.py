"""An estimate of a training's memory and time, measured on a few steps before the training starts."""

import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Generator, Tensor

from unbraid.data import Dataset, Draw
from unbraid.distributed import shard_batch
from unbraid.progress import duration
from unbraid.training.cuda_graph import WARMUP_STEPS, CUDAGraphStep
from unbraid.training.step import TrainingStep

if TYPE_CHECKING:
    from unbraid.training.loop import Trainer

MEASURED_STEPS = 3


class Estimate(NamedTuple):
    """Bytes of the data, weights, gradients, optimizer states and activations of one step; seconds of all steps."""

    bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"about {self.bytes / 2**20:,.0f} MiB of memory and {duration(self.seconds)} of training"


def estimate(
    training_step: TrainingStep,
    dataset: Dataset,
    draw: Draw,
    batch_size: int,
    steps: int,
    *,
    use_graph: bool = False,
) -> Estimate:
    """Runs a few steps, and measures their memory and time.

    Args:
        training_step: A dry-run copy, because these steps change its weights.
        dataset: The training data.
        draw: Samples the batches.
        batch_size: Observations per batch.
        steps: Number of steps of the whole training.
        use_graph: Whether steps run as a CUDA graph.
    """
    device = training_step.method.step.device
    generator = Generator(device).manual_seed(0)
    activations: dict[int, int] = {}

    def record_storage(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        activations[storage.data_ptr()] = storage.nbytes()
        # Without `detach`, the tensor would keep its autograd graph alive in the current CUDA stream, and later steps
        # could not be captured in another stream.
        return tensor.detach()

    def draw_batch() -> Any:
        return shard_batch(draw(dataset, batch_size, generator, training_step.method.step))

    def run() -> object:
        return training_step.run(draw_batch, 0)

    if use_graph:
        run = CUDAGraphStep(run, device, [generator])
    with torch.autograd.graph.saved_tensors_hooks(record_storage, lambda tensor: tensor):
        run()
    for _ in range(WARMUP_STEPS if use_graph else 0):  # the last one captures the graph
        run()
    start = _now(device)
    for _ in range(MEASURED_STEPS):
        run()
    seconds = (_now(device) - start) / MEASURED_STEPS * steps
    state = sum(tensor.nbytes for tensor in training_step.state().values())
    gradients = sum(
        parameter.nbytes for player in training_step.player_states for parameter in player.parameters
    )
    return Estimate(dataset.nbytes + state + gradients + sum(activations.values()), seconds)


def show_estimate(trainer: "Trainer") -> None:
    """Prints the estimate of a training."""
    expected = estimate(
        trainer.training_step.dry_run_copy(),
        trainer.dataset,
        trainer.draw,
        trainer.config.batch_size,
        trainer.config.steps,
        use_graph=trainer.uses_graph,
    )
    if trainer.is_rank_zero:
        print(f"{trainer.title}: {expected}", file=sys.stderr, flush=True)


def _now(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()
