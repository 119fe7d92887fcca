"""The validation loss, src/unbraid/training/validation.py."""

import torch
from torch import Generator

from tests.tiny import SHAPE, make
from unbraid.data import Dataset, IIDDraw
from unbraid.methods import BetaVAE
from unbraid.training.config import TrainConfig
from unbraid.training.validation import validation_loss


def dataset(size: int = 40) -> Dataset:
    images = torch.randint(256, (size, *SHAPE), generator=Generator().manual_seed(0)).to(torch.uint8)
    return Dataset(images, name="noise")


def test_it_is_the_same_every_time_and_leaves_the_noise_of_training_alone() -> None:
    method, config = make(BetaVAE).float(), TrainConfig(steps=10, batch_size=4)
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first, second = (validation_loss(method, dataset(), IIDDraw(), config) for _ in range(2))
    assert first == second
    assert torch.equal(torch.rand(2), expected)
    assert method.training


def test_another_seed_draws_other_batches() -> None:
    method = make(BetaVAE).float()
    first, second = (
        validation_loss(method, dataset(), IIDDraw(), TrainConfig(steps=10, batch_size=4, seed=seed))
        for seed in (0, 1)
    )
    assert first != second


def test_it_is_the_mean_over_as_many_batches_as_the_split_fills() -> None:
    """A method whose loss counts its batches: ten batches of four in forty observations, and fifty at most."""

    class Counting(IIDDraw):
        batches = 0

        def __call__(self, *arguments: object) -> object:  # type: ignore[override]
            Counting.batches += 1
            return super().__call__(*arguments)  # type: ignore[arg-type]

    method, config = make(BetaVAE).float(), TrainConfig(steps=10, batch_size=4)
    validation_loss(method, dataset(40), Counting(), config)
    assert Counting.batches == 10
    Counting.batches = 0
    validation_loss(method, dataset(400), Counting(), config)
    assert Counting.batches == 50
