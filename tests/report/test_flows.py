"""Figures of flows, src/unbraid/report/flows.py."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.data import Dataset, Sets, array, mixture, sprites
from unbraid.data.factors import FactorSpace
from unbraid.methods import AugmentedGIN
from unbraid.metrics import spectrum
from unbraid.model import Model
from unbraid.nn import RowFlow
from unbraid.plan import Plan
from unbraid.report.flows import (
    augmented_samples,
    class_means,
    recovery_chart,
    rotation_chart,
    spectrum_chart,
    variable,
    variables,
)
from unbraid.report.page import write_report

SIDE = 4


class Identity(RowFlow):
    """Codes that are the pixels, so that what moving one does is known."""

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1)

    def inverse(self, z: Tensor) -> Tensor:
        return z.view(-1, 1, SIDE, SIDE)


def greys() -> Dataset:
    """Two classes of images: a grey that varies on the first pixel, on the second less, elsewhere a half."""
    images = torch.full((64, SIDE, SIDE), 128, dtype=torch.uint8)
    images[:, 0, 0] = torch.arange(64) * 4
    images[:, 0, 1] = 100 + torch.arange(64) % 8
    return Dataset(
        images[:, None],
        name="greys",
        space=FactorSpace({"class": 2}),
        combinations=(torch.arange(64) >= 32).long(),
        label="class",
        value_names={"class": ("dark", "bright")},
    )


@pytest.fixture
def model() -> Model:
    method = AugmentedGIN(Identity((1, SIDE, SIDE)))
    dataset = greys()
    method.discover(dataset.observe(dataset.rows()).flatten(1))
    return Model(method, (1, SIDE, SIDE))


def test_samples_stand_above_their_augmentations() -> None:
    figure = augmented_samples(sprites(size=16), count=3)
    assert [row.label for row in figure.rows][:4] == ["original", "moved", "turned", "scaled"]
    assert [row.label for row in figure.rows][4:] == ["combined"] * 4
    assert all(len(row.images) == 3 for row in figure.rows)
    single = augmented_samples(sprites(size=16), sets=Sets(transforms=("rotate",), redraw=True))
    assert [row.label for row in single.rows] == ["original", "turned"]


def test_means_are_those_of_the_classes(model: Model) -> None:
    names, means = class_means(model, greys())
    assert names == ("dark", "bright") and means.shape == (2, SIDE * SIDE)
    assert means[0, 0] < 0.35 and means[1, 0] > 0.65 and float(means[0, 5]) == pytest.approx(128 / 255)
    names, means = class_means(model, array(torch.rand(8, 1, SIDE, SIDE)))
    assert names == ("",) and len(means) == 1


def test_a_sweep_moves_one_pixel_by_its_spread_and_shows_where(model: Model) -> None:
    """Codes are pixels: the first moves by so many of its own spreads, and the area is twice a spread there."""
    figure = variable(model, class_means(model, greys()), 1)
    assert figure.columns == ("−2", "−1.5", "−1", "−0.5", "0", "0.5", "1", "1.5", "2", "area")
    assert [row.label for row in figure.rows] == ["dark", "bright"]
    spread, images = float(model.method.spread[1]), figure.rows[0].images  # type: ignore[index]
    assert_close(float(images[8, 0, 0, 1] - images[4, 0, 0, 1]), 2 * spread, atol=1e-5, rtol=0)
    area = torch.zeros(1, SIDE, SIDE)
    area[0, 0, 1] = 2 * spread
    assert_close(images[9], area, atol=1e-5, rtol=0)


def test_an_overview_has_a_row_for_each_informative_code(model: Model) -> None:
    figure = variables(model, greys(), classes=2)
    assert [row.label for row in figure.rows] == ["code 0", "code 1"]
    assert figure.columns == ("−2", "0", "2", "−2", "0", "2", "area")
    assert all(len(row.images) == 7 for row in figure.rows)
    (row,) = variables(model, greys(), codes=[5]).rows
    assert_close(row.images[0], row.images[2])  # a code without spread moves nothing


def test_spectra_have_their_knees() -> None:
    rng = np.random.default_rng(0)
    found = {
        "first": spectrum(rng.standard_normal((50, 6))),
        "trained": spectrum(rng.standard_normal((50, 6)) * [9, 8, 1e-2, 1e-2, 1e-2, 1e-2]),
    }
    (axes,) = spectrum_chart(found, dark=True).axes
    assert axes.get_yscale() == "log" and "trained, knee at 2" in axes.get_legend_handles_labels()[1]
    assert list(axes.lines[0].get_ydata()) == list(found["first"].spreads)


def test_recovery_shows_truth_observations_and_each_model() -> None:
    """The latents themselves, one with its sign turned and both in the other order, are found and turned back."""
    dataset = mixture()
    assert dataset.latents is not None and dataset.combinations is not None
    rows = torch.arange(0, 10_000, 40)
    latents = dataset.latents.true(rows).numpy()
    codes = np.column_stack(
        [0.01 * np.random.default_rng(0).standard_normal((250, 8)), latents[:, ::-1] * [1, -1]]
    )
    chart = recovery_chart(
        dataset.observe(rows).numpy(), latents, dataset.combinations[rows].numpy(), {"both": codes}
    )
    truth, observed, found, spreads = chart.axes
    assert observed.get_title(loc="left") == "observed, two directions"
    assert found.get_title(loc="left") == "both\nR² 1.000, MCC 1.000"
    assert spreads.get_title(loc="left").endswith("knee at 2")
    for shown, true in zip(found.collections, truth.collections, strict=True):
        assert_close(
            torch.tensor(np.asarray(shown.get_offsets())), torch.tensor(np.asarray(true.get_offsets()))
        )


def test_a_turn_is_charted_above_its_first_loss() -> None:
    (axes,) = rotation_chart({"constant": ((0.0, 45.0, 90.0), (2.0, 2.5, 2.0))}).axes
    assert list(axes.lines[0].get_ydata()) == [0.0, 0.5, 0.0]


def test_the_page_of_a_flow_shows_its_spectrum_and_the_latents_it_found(tmp_path: Path) -> None:
    """From a plan to the report, on rows, which have charts and no pictures."""
    plan = Plan("augmented-gin", "mixture", {"steps": 2, "batch": 8, "seed": 0})
    run = plan.run(tmp_path / "run", quiet=True)
    page = write_report([run]).read_text()
    assert "Spectrum" in page and "Latents found again" in page
    assert {"spectrum.png", "recovery.png"} <= {path.name for path in (run.folder / "figures").iterdir()}


def test_the_page_of_a_flow_on_images_shows_what_codes_do(tmp_path: Path) -> None:
    plan = Plan("augmented-gin", "sprites", {"size": 16, "steps": 2, "batch": 4, "seed": 0})
    run = plan.run(tmp_path / "run", quiet=True)
    page = write_report([run]).read_text()
    assert "What each code does" in page and "Traversals" not in page
    names = {path.name for path in (run.folder / "figures").iterdir()}
    assert {"variables.png", "reconstructions.png", "spectrum.png"} <= names
