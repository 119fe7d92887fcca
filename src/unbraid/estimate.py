"""What a training will take, measured on a few steps before it starts."""

import time
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from unbraid.capture import WARM_UP, Captured
from unbraid.data.dataset import Dataset
from unbraid.data.draws import Draw
from unbraid.distributed import share_batch
from unbraid.game import Game
from unbraid.progress import duration

STEPS = 3


class Estimate(NamedTuple):
    """Memory for data, weights, optimisers and the activations of a step; time for all steps."""

    bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"about {self.bytes / 2**20:,.0f} MiB of memory and {duration(self.seconds)} ahead"


def estimate(
    game: Game, dataset: Dataset, draw: Draw, batch: int, steps: int, *, recorded: bool = False
) -> Estimate:
    """Plays a few steps of a rehearsal game, which is spoilt by it, and counts what they hold and take."""
    device = game.method.step.device
    generator = Generator(device).manual_seed(0)
    activations: dict[int, int] = {}

    def count(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        activations[storage.data_ptr()] = storage.nbytes()
        # With its graph, a tensor that no gradient is asked of would keep that graph alive in the stream it was made
        # in, and no step could be recorded in another.
        return tensor.detach()

    def take() -> Any:
        return share_batch(draw(dataset, batch, generator, game.method.step))

    def play() -> object:
        return game.step(take, 0)

    if recorded:
        play = Captured(play, device, [generator])
    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        play()
    for _ in range(WARM_UP if recorded else 0):  # the last of them is the recording
        play()
    began = _now(device)
    for _ in range(STEPS):
        play()
    seconds = (_now(device) - began) / STEPS * steps
    state = sum(tensor.nbytes for tensor in game.state().values())
    gradients = sum(parameter.nbytes for side in game.sides for parameter in side.parameters)
    return Estimate(dataset.bytes + state + gradients + sum(activations.values()), seconds)


def _now(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()
