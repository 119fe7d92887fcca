"""Memory and time ahead, src/unbraid/estimate.py."""

import torch

from tests.tiny import make
from unbraid.data import Dataset, Samples
from unbraid.estimate import estimate
from unbraid.game import Game
from unbraid.methods import VAE


def test_an_estimate_counts_data_weights_moments_gradients_and_activations() -> None:
    method = make(VAE).float()
    dataset = Dataset(torch.zeros(1000, 1, 3, 3, dtype=torch.uint8), name="zeros")
    few = estimate(Game(method).rehearsal(), dataset, Samples(), 8, 10)
    many = estimate(Game(method).rehearsal(), dataset, Samples(), 800, 10)
    weights = sum(parameter.nbytes for parameter in method.parameters())
    assert few.bytes > 9_000 + 4 * weights  # data, weights, two moments, gradients
    assert many.bytes > few.bytes  # more activations
    assert few.seconds > 0
    assert "MiB of memory and" in str(few)


def test_time_grows_with_the_steps() -> None:
    method = make(VAE).float()
    dataset = Dataset(torch.zeros(100, 1, 3, 3, dtype=torch.uint8), name="zeros")
    short, long = (
        estimate(Game(method).rehearsal(), dataset, Samples(), 8, steps).seconds for steps in (10, 100_000)
    )
    assert long > 10 * short
