"""The dataset of a run, opened again, src/unbraid/reopen.py."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.tiny import SHAPE, make
from unbraid.data.catalogue import open_dataset
from unbraid.methods import BetaVAE
from unbraid.reopen import dataset_beside, dataset_of
from unbraid.train import train


def test_a_dataset_that_changed_is_not_opened_again_in_silence(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", images=np.zeros((20, *SHAPE[1:]), np.uint8))
    data = open_dataset(str(tmp_path / "mine.npz"))
    run = train(make(BetaVAE).float(), data, out=tmp_path / "run", steps=2, batch=4, device="cpu", quiet=True)
    assert len(dataset_of(run)) == 20
    images = np.zeros((20, *SHAPE[1:]), np.uint8)
    images[7, 1, 1] = 9
    np.savez(tmp_path / "mine.npz", images=images)
    with pytest.raises(ValueError, match=r"is not what .* was trained on"):
        dataset_of(run)
    half = data.split(0.5, torch.Generator().manual_seed(0))[0]
    run = train(
        make(BetaVAE).float(), half, out=tmp_path / "half", steps=2, batch=4, device="cpu", quiet=True
    )
    with pytest.raises(ValueError, match="made in Python"):
        dataset_of(run)


def test_another_part_of_what_a_run_was_trained_on(tmp_path: Path) -> None:
    data = open_dataset("credit", observations=50, table_seed=3)
    method = _tiny(data.shape)
    run = train(method, data, out=tmp_path / "run", steps=2, batch=4, device="cpu", quiet=True)
    test, said = dataset_beside(run, part="test")
    assert (test.name, len(test), said) == ("credit-test", 50, "credit --part test")
    assert torch.equal(test.source, open_dataset("credit", observations=50, table_seed=3, part="test").source)
    other, said = dataset_beside(run, data="credit", observations=70)
    assert (len(other), said) == (70, "credit --observations 70")
    with pytest.raises(
        ValueError, match=r"trained on observations of shape \(12,\), and those of sprites have"
    ):
        dataset_beside(run, data="sprites")


def _tiny(shape: tuple[int, ...]) -> BetaVAE:
    from unbraid.nn import MLPDecoder, MLPEncoder
    from unbraid.objectives import Normal

    return BetaVAE(
        MLPEncoder(shape, 2, hidden=(4,)), MLPDecoder(2, shape, hidden=(4,)), likelihood=Normal(1.0)
    )
