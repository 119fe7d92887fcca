"""The end of training: what a method works out once, from samples of the data."""

import math

import torch
from torch import Generator

from unbraid.data.dataset import Dataset
from unbraid.data.draws import Samples
from unbraid.methods.base import Method
from unbraid.seeds import derive

BATCH = 500


def finish(method: Method, dataset: Dataset, *, seed: int = 0, samples: int = 10_000) -> None:
    """Lets a method work out what it needs the finished weights for: a flow, which of its codes are informative.

    Args:
        method: A trained method.
        dataset: What it was trained on.
        seed: Of the samples.
        samples: How many observations to show it.
    """
    device, draw = method.step.device, Samples()
    dataset = dataset.to(device)
    generator = Generator(device).manual_seed(derive(seed, "finish"))
    was_training = method.training
    method.eval()
    with torch.no_grad():
        method.finish(draw(dataset, BATCH, generator, method.step) for _ in range(math.ceil(samples / BATCH)))
    method.train(was_training)
