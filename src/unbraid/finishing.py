"""The end of training: what a method works out once, from samples of the data."""

import math

import torch
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.draws import DRAWS, Draw, Samples
from unbraid.methods.base import Method
from unbraid.seeds import derive

BATCH = 500


def finish(
    method: Method, dataset: Dataset, *, draw: Draw | None = None, seed: int = 0, samples: int | None = None
) -> None:
    """Lets a method work out what it needs the finished weights for: a flow, which of its codes are informative.

    Args:
        method: A trained method.
        dataset: What it was trained on.
        draw: How batches were made, for methods that are shown such again; the usual way when left out.
        seed: Of the samples.
        samples: How many observations to show it, or pairs; as many as the method asks for by default.
    """
    device = method.step.device
    made: Draw = (draw or DRAWS[method.batch]()) if method.finish_as_drawn else Samples()
    count = method.finish_samples if samples is None else samples
    dataset = dataset.to(device)
    generator = Generator(device).manual_seed(derive(seed, "finish"))
    was_training = method.training
    method.eval()
    with torch.no_grad():
        method.finish(made(dataset, BATCH, generator, method.step) for _ in range(math.ceil(count / BATCH)))
    method.train(was_training)
