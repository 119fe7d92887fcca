"""Figures of flows, src/unbraid/report/flows.py."""

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.data import Dataset, SetDraw, from_arrays, sprites
from unbraid.data.factors import FactorSpace
from unbraid.evaluation.evaluate import evaluate
from unbraid.methods import AugmentedGIN
from unbraid.nn import RowFlow
from unbraid.report import flow_charts, flows
from unbraid.report.flows import (
    augmented_samples,
    class_means,
    heat_map,
    variable,
    variables,
)
from unbraid.report.page import write_report
from unbraid.runs.model import Model, load
from unbraid.studies.plan import Plan

SIDE = 4


class Identity(RowFlow):
    """Codes that are the pixels, so that what moving one does is known."""

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1)

    def inverse(self, z: Tensor) -> Tensor:
        return z.view(-1, 1, SIDE, SIDE)


def grays() -> Dataset:
    """Two classes of images: a gray that varies on the first pixel, on the second less, elsewhere a half."""
    images = torch.full((64, SIDE, SIDE), 128, dtype=torch.uint8)
    images[:, 0, 0] = torch.arange(64) * 4
    images[:, 0, 1] = 100 + torch.arange(64) % 8
    return Dataset(
        images[:, None],
        name="grays",
        factor_space=FactorSpace({"class": 2}),
        combinations=(torch.arange(64) >= 32).long(),
        label="class",
        value_names={"class": ("dark", "bright")},
    )


@pytest.fixture
def model() -> Model:
    method = AugmentedGIN(Identity((1, SIDE, SIDE)))
    dataset = grays()
    method.discover(dataset.observe(dataset.indices()).flatten(1))
    return Model(method, (1, SIDE, SIDE))


def test_samples_stand_above_their_augmentations() -> None:
    figure = augmented_samples(sprites(image_size=16), count=3)
    assert [row.label for row in figure.rows][:4] == ["original", "translated", "rotated", "scaled"]
    assert [row.label for row in figure.rows][4:] == ["combined"] * 4
    assert all(len(row.images) == 3 for row in figure.rows)
    single = augmented_samples(
        sprites(image_size=16), sets=SetDraw(transforms=("rotate",), fresh_each_step=True)
    )
    assert [row.label for row in single.rows] == ["original", "rotated"]


def test_means_are_those_of_the_classes(model: Model) -> None:
    names, means = class_means(model, grays())
    assert names == ("dark", "bright") and means.shape == (2, SIDE * SIDE)
    assert means[0, 0] < 0.35 and means[1, 0] > 0.65 and float(means[0, 5]) == pytest.approx(128 / 255)
    names, means = class_means(model, from_arrays(torch.rand(8, 1, SIDE, SIDE)))
    assert names == ("",) and len(means) == 1


def test_a_sweep_moves_one_pixel_by_its_spread_and_shows_where(model: Model) -> None:
    """Codes are pixels: the first moves by so many of its own spreads, and only there is the heat map not black."""
    figure = variable(model, class_means(model, grays()), 1)
    assert figure.columns == ("−2", "−1.5", "−1", "−0.5", "0", "0.5", "1", "1.5", "2", "area")
    assert [row.label for row in figure.rows] == ["dark", "bright"]
    spread, images = float(model.method.std[1]), figure.rows[0].images  # type: ignore[index]
    assert_close(float(images[8, 0, 0, 1] - images[4, 0, 0, 1]), 2 * spread, atol=1e-5, rtol=0)
    heat = torch.zeros(3, SIDE, SIDE)
    heat[:, 0, 1] = 1
    assert_close(images[9], heat, atol=1e-4, rtol=0)
    assert_close(images[:9, 0], images[:9, 2])  # the others are gray


def test_heat_goes_from_black_over_red_and_yellow_to_white() -> None:
    area = torch.tensor([0.0, 0.2, 0.4, 0.6]).view(1, 1, 2, 2)
    red, yellow, white = (
        heat_map(area)[0, :, row, column].tolist() for row, column in ((0, 1), (1, 0), (1, 1))
    )
    assert red == pytest.approx([1, 0, 0], abs=1e-6)
    assert yellow == pytest.approx([1, 1, 0], abs=1e-6) and white == pytest.approx([1, 1, 1], abs=1e-6)
    assert heat_map(torch.zeros(2, 3, 4, 4)).abs().sum() == 0
    assert heat_map(torch.rand(2, 3, 4, 4)).shape == (2, 3, 4, 4)


def test_an_overview_has_a_row_for_each_informative_code(model: Model) -> None:
    figure = variables(model, grays(), classes=2)
    assert [row.label for row in figure.rows] == ["dimension 0", "dimension 1"]
    assert figure.columns == ("−2", "0", "2", "−2", "0", "2", "area")
    assert all(len(row.images) == 7 for row in figure.rows)
    (row,) = variables(model, grays(), dims=[5]).rows
    assert_close(row.images[0], row.images[2])  # a code without spread moves nothing


def test_the_page_of_a_flow_on_images_shows_class_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flows, "SAMPLE", 256)
    monkeypatch.setattr(flow_charts, "SAMPLE", 256)
    plan = Plan("augmented-gin", "sprites", {"image_size": 16, "steps": 2, "batch_size": 4, "seed": 0})
    run = plan.run(tmp_path / "run", quiet=True)
    method = load(run.folder, device="cpu").method
    run.add_scores(evaluate(method, plan.dataset(), ["codes:spectrum"], num_samples=100))
    page = write_report([run]).read_text()
    assert "Traversals of class means" in page and ">Traversals<" not in page
    names = {path.name for path in (run.folder / "figures").iterdir()}
    assert {"variables.png", "reconstructions.png", "spectrum.png"} <= names
