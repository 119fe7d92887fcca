"""The dataset of a run, opened again, src/unbraid/runs/run_dataset.py."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.run_files import SETTINGS
from tests.tiny import SHAPE, make
from unbraid.data.registry import open_dataset
from unbraid.methods import BetaVAE
from unbraid.runs.folder import Run
from unbraid.runs.run_dataset import evaluation_dataset, standardized_for, training_dataset
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


def test_another_table_is_standardized_as_in_training(tmp_path: Path) -> None:
    """By means and standard deviations of the training table, its columns matched by name; also a background."""
    (tmp_path / "train.csv").write_text("a,b\n0,10\n2,30\n4,20\n")
    (tmp_path / "other.csv").write_text("b,a\n10,4\n110,2\n")
    data = open_dataset(str(tmp_path / "train.csv"))
    run = train(_tiny((2,)), data, out=tmp_path / "run", steps=2, batch_size=2, device="cpu", quiet=True)
    other = evaluation_dataset(run, data=str(tmp_path / "other.csv"))[0]
    assert data.columns is not None and other.columns == data.columns
    assert_close(other.raw(torch.arange(2)), torch.tensor([[4.0, 10.0], [2.0, 110.0]], dtype=torch.float64))
    assert_close(other.source[:, 0], torch.tensor([2.0, 0.0]) / (8 / 3) ** 0.5)
    with_background = standardized_for(run, open_dataset(str(tmp_path / "other.csv")).with_background(data))
    assert with_background.background is not None
    assert_close(with_background.background.source, data.source)
    (tmp_path / "alike.csv").write_text("a,c\n0,10\n2,30\n")
    with pytest.raises(ValueError, match=r"alike lacks the column 'b'\. .*; it has a, c"):
        evaluation_dataset(run, data=str(tmp_path / "alike.csv"))


def _tiny(shape: tuple[int, ...]) -> BetaVAE:
    from unbraid.nn import MLPDecoder, MLPEncoder
    from unbraid.objectives import Normal

    return BetaVAE(
        MLPEncoder(shape, 2, hidden=(4,)), MLPDecoder(2, shape, hidden=(4,)), likelihood=Normal(1.0)
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"image_size": {"a": 1}},
            "image_size of the dataset sprites in .* must be of type int, and is {'a': 1}",
        ),
        ({"image_size": "64"}, "image_size of the dataset sprites in .* must be of type int"),
        ({"antialias": 1}, "antialias of the dataset sprites in .* must be of type bool"),
        ({"correlate": 3}, "correlate of the dataset sprites in .* must be of type tuple"),
        ({"color": True}, "has no option color"),
    ],
)
def test_damaged_options_of_the_dataset_are_named(options: dict, sentence: str, tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", SETTINGS, resume=False)
    run.settings["data"]["origin"] = {"name": "sprites", "options": options}
    with pytest.raises(ValueError, match=sentence):
        training_dataset(run)
