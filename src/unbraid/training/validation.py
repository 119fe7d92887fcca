"""The loss on held-out observations."""

import torch
from torch import Generator

from unbraid.data import Dataset, Draw
from unbraid.distributed import all_reduce_mean, shard_batch
from unbraid.methods import Method
from unbraid.seeds import derive_seed
from unbraid.training.config import TrainConfig

MAX_BATCHES = 50


def validation_loss(method: Method, dataset: Dataset, draw: Draw, config: TrainConfig) -> float:
    """The mean loss over a fixed number of batches of held-out observations, the same batches every time."""
    device = method.step.device
    generator = Generator(device).manual_seed(derive_seed(config.seed, "validation"))
    last_step = torch.tensor(config.steps, device=device)  # the draw's curriculum is taken at its end
    batches = max(1, min(MAX_BATCHES, len(dataset) // config.batch_size))
    method.eval()
    with torch.random.fork_rng([device] if device.type == "cuda" else []), torch.no_grad():
        torch.manual_seed(derive_seed(config.seed, "validation"))
        losses = [
            method.validation_loss(shard_batch(draw(dataset, config.batch_size, generator, last_step))).total
            for _ in range(batches)
        ]
    method.train()
    return float(all_reduce_mean(torch.stack(losses).mean()))
