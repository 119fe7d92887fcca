"""Trained models on your observations, src/unbraid/runs/model.py."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.tiny import CODES, SHAPE, make
from unbraid.data import ColumnScaler, Dataset
from unbraid.methods import CNN, VFAE, BetaVAE, method_class, method_classes
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.objectives import Normal
from unbraid.runs.model import Model, as_observations, load
from unbraid.training.train import train
from unbraid.types import Codes, Gaussian, Observations


def data() -> Dataset:
    return Dataset(torch.randint(0, 256, (40, *SHAPE), dtype=torch.uint8), name="noise")


@pytest.fixture
def model() -> Model:
    return Model(make(BetaVAE).float(), SHAPE)


@pytest.fixture
def images() -> Tensor:
    return torch.rand(5, *SHAPE)


def test_a_loaded_run_is_the_method_that_was_trained(tmp_path: Path, images: Tensor) -> None:
    method = make(BetaVAE, beta=2.0).float()
    train(method, data(), out=tmp_path / "run", steps=3, batch_size=4, device="cpu", quiet=True)
    loaded = load(tmp_path / "run", device="cpu")
    assert isinstance(loaded.method, BetaVAE) and loaded.method.beta == 2.0
    assert loaded.run is not None and loaded.run.method_name == "beta-vae"
    with torch.no_grad():
        assert_close(loaded.encode(images), method.encode(images), atol=0, rtol=0)


class CustomEncoder(nn.Module):
    latent_dim = CODES

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(9, 2 * CODES)

    def forward(self, x: Observations) -> Gaussian:
        return Gaussian(*self.linear(x.flatten(1)).chunk(2, 1))


def test_a_custom_network_is_trained_and_passed_to_load(tmp_path: Path, images: Tensor) -> None:
    method = BetaVAE(CustomEncoder(), make(BetaVAE).float().decoder)
    train(method, data(), out=tmp_path / "run", steps=3, batch_size=4, device="cpu", quiet=True)
    with pytest.raises(
        ValueError, match=r"network of your own, tests\.runs\.test_model:CustomEncoder\. Pass it to load"
    ):
        load(tmp_path / "run")
    loaded = load(tmp_path / "run", device="cpu", encoder=CustomEncoder())
    assert_close(loaded.encode(images), method.encode(images).detach(), atol=0, rtol=0)


class CustomMethod(BetaVAE):
    """A method defined outside the package."""


def test_a_custom_method_is_trained_and_passed_to_load(tmp_path: Path) -> None:
    method = make(CustomMethod).float()
    run = train(method, data(), out=tmp_path / "run", steps=3, batch_size=4, device="cpu", quiet=True)
    assert run.method_name == "CustomMethod"
    with pytest.raises(ValueError, match=r"your own code, tests\.runs\.test_model:CustomMethod"):
        load(tmp_path / "run")
    assert isinstance(load(tmp_path / "run", method=CustomMethod).method, CustomMethod)


def test_encode_and_decode_do_not_depend_on_the_batch_size(model: Model, images: Tensor) -> None:
    codes = model.encode(images)
    assert codes.shape == (5, CODES)
    assert_close(model.encode(images, batch_size=2), codes)
    assert_close(model.decode(codes, batch_size=2), model.decode(codes))
    assert_close(model.reconstruct(images), model.decode(codes))


def test_samples_are_images_and_follow_the_seed(model: Model) -> None:
    samples = model.sample(3, seed=1)
    assert samples.shape == (3, *SHAPE) and 0 <= float(samples.min()) <= float(samples.max()) <= 1
    assert_close(samples, model.sample(3, seed=1))
    assert not torch.equal(samples, model.sample(3, seed=2))


def test_a_traversal_sets_one_dimension(model: Model, images: Tensor) -> None:
    views = model.traverse(images, 2, [-1.0, 0.5])
    codes: Codes = model.encode(images).clone()
    codes[:, 2] = 0.5
    assert views.shape == (2, 5, *SHAPE)
    assert_close(views[1], model.decode(codes))


def test_an_interpolation_goes_from_a_to_b(model: Model, images: Tensor) -> None:
    path = model.interpolate(images[:2], images[2:4], steps=3)
    assert_close(path[0], model.reconstruct(images[:2]))
    assert_close(path[2], model.reconstruct(images[2:4]))
    one = model.interpolate(images[:2], images[2:4], strand=0, steps=3)
    assert_close(one[2], model.swap(images[:2], images[2:4], 0)[0])


def test_swapping_the_whole_code_swaps_the_images(model: Model, images: Tensor) -> None:
    first, second = model.swap(images[:1], images[1:2], "codes")
    assert_close(first, model.reconstruct(images[1:2]))
    assert_close(second, model.reconstruct(images[:1]))


@pytest.mark.parametrize(
    ("x", "shape"),
    [
        (np.zeros((4, 8, 8), np.uint8), (1, 8, 8)),
        (np.zeros((8, 8), np.uint8), (1, 8, 8)),
        (np.zeros((4, 8, 8, 3), np.float32), (3, 8, 8)),
        (np.zeros((8, 8, 3), np.float64), (3, 8, 8)),
        (torch.zeros(4, 3, 8, 8), (3, 8, 8)),
        (torch.zeros(4, 7), (7,)),
    ],
)
def test_observations_are_taken_in_any_usual_layout(x: Any, shape: tuple[int, ...]) -> None:
    observations = as_observations(x, shape)
    assert tuple(observations.shape[1:]) == shape and observations.dtype == torch.float32


def test_bytes_become_parts_of_one() -> None:
    assert_close(as_observations(np.full((1, 2, 2), 255, np.uint8), (1, 2, 2)), torch.ones(1, 1, 2, 2))


def test_bytes_of_zero_and_one_are_black_and_white() -> None:
    binary = np.array([[[0, 1], [1, 0]]], np.uint8)
    assert_close(as_observations(binary, (1, 2, 2)), torch.tensor([[[[0.0, 1.0], [1.0, 0.0]]]]))


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (torch.zeros(4, 1, 9, 9), r"takes observations of shape \(1, 8, 8\); got \(4, 1, 9, 9\)"),
        (torch.full((4, 1, 8, 8), float("nan")), "must be finite; these contain NaN"),
        (torch.full((4, 1, 8, 8), 200.0), r"uint8, or float in \[0, 1\]\. Divide by the maximum pixel value"),
        (torch.zeros(0, 1, 8, 8), "takes observations of shape"),
    ],
)
def test_observations_that_do_not_fit_are_refused(x: Tensor, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        as_observations(x, (1, 8, 8))


def test_codes_of_another_size_are_refused(model: Model) -> None:
    with pytest.raises(ValueError, match=f"must have {CODES} columns"):
        model.decode(torch.zeros(2, CODES + 1))


def test_predictions_are_those_of_the_method(model: Model) -> None:
    method = make(CNN).float()
    x = torch.rand(5, *SHAPE)
    assert_close(Model(method, SHAPE).predict(x, batch_size=2), method.predict(x).detach())
    with pytest.raises(ValueError, match=r"beta-vae does not predict classes\. Train a method that does"):
        model.predict(x)


def test_conditions_stay_with_their_observations() -> None:
    method = make(VFAE).float()
    x, condition = torch.rand(5, *SHAPE), torch.tensor([[0, 0], [1, 1], [0, 2], [1, 0], [0, 1]])
    method.nuisances.record_values(condition)
    one = Model(method, SHAPE)
    with torch.no_grad():
        codes = method.encode(x, condition)
        decoded = method.decode(codes, condition)
    assert_close(one.encode(x, condition=condition, batch_size=2), codes)
    assert_close(one.reconstruct(x, condition=condition), decoded)
    assert_close(one.decode(codes, condition=condition, batch_size=2), decoded)
    assert_close(one.traverse(x, 0, [float(codes[0, 0])], condition=condition)[0, 0], decoded[0])
    swapped, _ = one.swap(x[:2], x[2:4], "z2", conditions=(condition[:2], condition[2:4]))
    assert_close(swapped, decoded[:2])  # z2 has no part in decoding
    assert not torch.equal(one.reconstruct(x), decoded)


COLUMNS = ColumnScaler(("a", "b"), (100.0, 1e9), (10.0, 1e3))
ROWS = np.array([[110.0, 1e9], [90.0, 1e9 + 2e3]])


def of_rows(columns: ColumnScaler | None = COLUMNS) -> Model:
    torch.manual_seed(0)
    encoder, decoder = MLPEncoder((2,), CODES, hidden=(4,)), MLPDecoder(CODES, (2,), hidden=(4,))
    return Model(BetaVAE(encoder, decoder, likelihood=Normal()), (2,), columns=columns)


def test_rows_are_taken_and_returned_in_the_units_of_their_table() -> None:
    model, standardized = of_rows(), torch.tensor([[1.0, 0.0], [-1.0, 2.0]])
    with torch.no_grad():
        codes = model.method.encode(standardized)
        decoded = model.method.decode(codes).double() * torch.tensor(COLUMNS.std) + torch.tensor(COLUMNS.mean)
    assert_close(model.encode(ROWS), codes)
    assert_close(model.without_columns().encode(standardized), codes)
    assert_close(model.reconstruct(torch.from_numpy(ROWS)).double(), decoded, rtol=1e-6, atol=0)
    assert_close(model.traverse(ROWS, 0, [float(codes[0, 0])])[0, 0].double(), decoded[0], rtol=1e-6, atol=0)
    swapped, _ = model.swap(ROWS[:1], ROWS[1:], "codes")
    assert_close(swapped[0].double(), decoded[1], rtol=1e-6, atol=0)


def test_the_rows_of_a_dataset_are_not_standardized_twice() -> None:
    data = Dataset(torch.randn(5, 2), name="table", max_value=1, columns=COLUMNS)
    model, rows = of_rows(), torch.arange(5)
    with torch.no_grad():
        assert_close(model.encode(data.raw(rows)), model.method.encode(data.observe(rows)), atol=1e-5, rtol=0)


def test_the_columns_of_a_data_frame_are_matched_by_name() -> None:
    pandas = pytest.importorskip("pandas", reason="needs the extra analysis")
    model, frame = of_rows(), pandas.DataFrame(ROWS, columns=["a", "b"])
    expected = model.encode(ROWS)
    assert_close(model.encode(frame), expected)
    assert_close(model.encode(frame.assign(label=["x", "y"])[["b", "label", "a"]]), expected)
    assert_close(of_rows(None).encode(frame), of_rows(None).encode(ROWS))
    with pytest.raises(
        ValueError, match=r"The data frame lacks the column 'b'\. .* needs a, b; it has a, label"
    ):
        model.encode(frame.assign(label=1)[["a", "label"]])
    with pytest.raises(
        ValueError, match=r"The column 'a' of the data frame must hold numbers; it holds '1_1'"
    ):
        model.encode(frame.assign(a=["1_1", "2"]))


def test_missing_values_are_refused_or_filled_as_in_training() -> None:
    rows = np.array([[110.0, 1e9], [np.nan, 1e9]])
    with pytest.raises(ValueError, match=r"Row 1 lacks a value in the column 'a': .*--impute mean"):
        of_rows().encode(rows)
    filled = of_rows(COLUMNS._replace(fill=(110.0, 1e9))).encode(rows)
    assert_close(filled[0], filled[1])


def test_every_method_is_found_by_its_name() -> None:
    assert method_class("beta-vae") is BetaVAE
    assert set(method_classes()) >= {
        "vae",
        "beta-vae",
        "annealed-vae",
        "factor-vae",
        "dip-vae-i",
        "dip-vae-ii",
    }
    assert set(method_classes()) >= {"beta-tcvae", "ada-gvae", "ada-ml-vae"}
