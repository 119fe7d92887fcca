"""The dataset of a run, opened again, src/unbraid/runs/run_dataset.py."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.tiny import SHAPE, make
from unbraid.data.registry import open_dataset
from unbraid.methods import BetaVAE
from unbraid.runs.run_dataset import evaluation_dataset, training_dataset
from unbraid.training.train import train


def test_a_changed_dataset_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", images=np.zeros((20, *SHAPE[1:]), np.uint8))
    data = open_dataset(str(tmp_path / "mine.npz"))
    run = train(
        make(BetaVAE).float(), data, out=tmp_path / "run", steps=2, batch_size=4, device="cpu", quiet=True
    )
    assert len(training_dataset(run)) == 20
    images = np.zeros((20, *SHAPE[1:]), np.uint8)
    images[7, 1, 1] = 9
    np.savez(tmp_path / "mine.npz", images=images)
    with pytest.raises(ValueError, match=r"is not the dataset that .* was trained on"):
        training_dataset(run)
    half = data.split(0.5, torch.Generator().manual_seed(0))[0]
    run = train(
        make(BetaVAE).float(), half, out=tmp_path / "half", steps=2, batch_size=4, device="cpu", quiet=True
    )
    with pytest.raises(ValueError, match=r"created in Python\. Pass the dataset"):
        training_dataset(run)


def test_another_split_of_the_training_data(tmp_path: Path) -> None:
    data = open_dataset("credit", observations=50, table_seed=3)
    method = _tiny(data.shape)
    run = train(method, data, out=tmp_path / "run", steps=2, batch_size=4, device="cpu", quiet=True)
    test, name = evaluation_dataset(run, split="test")
    assert (test.name, len(test), name) == ("credit-test", 50, "credit --split test")
    assert torch.equal(
        test.source, open_dataset("credit", observations=50, table_seed=3, split="test").source
    )
    other, name = evaluation_dataset(run, data="credit", observations=70)
    assert (len(other), name) == (70, "credit --observations 70")
    with pytest.raises(
        ValueError, match=r"trained on observations of shape \(12,\), but those of sprites have"
    ):
        evaluation_dataset(run, data="sprites")


def _tiny(shape: tuple[int, ...]) -> BetaVAE:
    from unbraid.nn import MLPDecoder, MLPEncoder
    from unbraid.objectives import Normal

    return BetaVAE(
        MLPEncoder(shape, 2, hidden=(4,)), MLPDecoder(2, shape, hidden=(4,)), likelihood=Normal(1.0)
    )
