"""Figures of subembeddings, src/unbraid/report/subembeddings.py."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from unbraid.data import backgrounds
from unbraid.data.dataset import Dataset
from unbraid.data.mnist_stl10 import mnist_stl10
from unbraid.recipes import Recipe
from unbraid.report import strand_charts
from unbraid.report.command import command_of
from unbraid.report.page import write_report
from unbraid.report.subembeddings import (
    accuracy_chart,
    location_chart,
    map_chart,
    strand_accuracies,
    tradeoff_chart,
    view_pairs,
)
from unbraid.runs.folder import Run
from unbraid.studies.plan import Plan
from unbraid.studies.study import study

TABLE = {"z.digit": 0.97, "z.background": 0.63, "z0.digit": 0.9, "z0.background": 0.1}


@pytest.fixture
def overlays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    monkeypatch.setattr(backgrounds, "TEXTURES", 20)
    return mnist_stl10(
        tmp_path, digits="bundled", backgrounds="textures", pairs=40, image_size=32, variant="dc-dl"
    )


def test_view_pairs_stand_above_each_other_and_say_what_they_share(overlays: Dataset) -> None:
    figure = view_pairs(overlays, count=5)
    assert [row.label for row in figure.rows] == ["view 0", "view 1"] and len(figure.rows[0].images) == 5
    assert figure.caption.endswith("The views share digit and location and differ in background.")
    assert torch.equal(view_pairs(overlays, count=5).rows[1].images, figure.rows[1].images)
    plain = Dataset(torch.zeros(4, 1, 16, 16, dtype=torch.uint8), name="plain")
    assert view_pairs(plain).caption == "Each column is a pair of views."


def test_places_are_the_paper_s_eight_and_two_have_their_box() -> None:
    (axes,) = location_chart().axes
    centers = [tuple(float(line.get_data()[k][0]) for k in (0, 1)) for line in axes.lines]
    assert centers[:2] == [(14.0, 16.0), (26.0, 16.0)] and centers[-1] == (50.0, 48.0) and len(centers) == 8
    assert [box.get_xy() for box in axes.patches] == [(24, 2), (0, 34)]  # type: ignore[attr-defined]


def test_terms_of_a_training_have_an_axis_each() -> None:
    history = [{"step": 10 * k, "infomax": 5.0 - k, "infomin": -float(k), "loss": 1.0} for k in range(3)]
    axes = tradeoff_chart(history).axes
    assert [ax.get_title(loc="left") for ax in axes] == ["infomax", "infomin"]
    assert list(axes[1].lines[0].get_ydata()) == [0.0, -1.0, -2.0]
    with pytest.raises(ValueError, match="contains none of infomax, infomin"):
        tradeoff_chart([{"step": 1, "loss": 2.0}])


def test_accuracies_are_written_in_per_cent_part_by_part() -> None:
    axes = accuracy_chart({"none": TABLE, "hessian": TABLE}, dark=True).axes
    assert len(axes) == 2 and axes[1].get_title(loc="left") == "hessian"
    assert [text.get_text() for text in axes[0].texts] == ["97.0", "63.0", "90.0", "10.0"]
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["z", "z0"]


def test_a_map_is_drawn_once_for_each_factor() -> None:
    rng = np.random.default_rng(0)
    codes, factors = rng.standard_normal((40, 3)), rng.integers(0, 3, (40, 2))
    axes = map_chart(codes, factors, ("digit", "background")).axes
    places = [ax.collections[0].get_offsets() for ax in axes]
    assert [ax.get_title(loc="left") for ax in axes] == ["digit", "background"]
    assert np.array_equal(places[0], places[1]) and len(places[0]) == 40


def test_a_study_scores_parts_on_test_pictures_and_the_page_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a plan to the report, on data that needs no download."""
    monkeypatch.setattr(backgrounds, "TEXTURES", 20)
    monkeypatch.setattr(strand_charts, "strand_maps", partial(strand_charts.strand_maps, count=40))
    plan = Plan(
        "subinfomax",
        "mnist-stl10",
        {
            **{"digits": "bundled", "backgrounds": "textures", "pairs": 60, "image_size": 32},
            **{
                "architecture": "mlp",
                "steps": 2,
                "batch_size": 8,
                "lambda_orthogonality": 0.1,
                "crop": 1.0,
                "color_jitter": 0.0,
            },
        },
        metrics=("z:disentanglement_gap",),
        evaluation={"num_samples": 60, "num_test_samples": 40, "test_split": "test"},
    )
    published = {("subinfomax", "z:disentanglement_gap.accuracy.z0.digit"): 0.766}
    result = study(
        Recipe("own", "", (plan,), published), tmp_path / "study", root=tmp_path, device="cpu", quiet=True
    )
    assert result.failures == []
    rows = {row.metric: row for row in result.rows}
    assert rows["z:disentanglement_gap.accuracy.z0.digit"].published == 0.766
    assert "[0.766]" in (tmp_path / "study" / "table.md").read_text()
    (folder,) = (tmp_path / "study" / "runs").iterdir()
    (table,) = strand_accuracies(Run(folder)).values()
    names = ["digit", "background", "location"]
    assert list(table) == [f"{part}.{name}" for part in ("z", "z0", "z1", "chance") for name in names]
    assert 0 < table["chance.digit"] < 0.3 and list(strand_accuracies(Run(folder))) == ["z"]
    assert all(score["on"] == "mnist-stl10 --split test" for score in Run(folder).scores())
    page = write_report([folder], root=tmp_path).read_text()
    assert (
        "Probe accuracy per strand and factor" in page
        and "View pairs" in page
        and "Reconstructions" not in page
    )
    assert (folder / "figures" / "subembeddings.png").is_file()
    assert "--architecture mlp" in command_of(Run(folder))
