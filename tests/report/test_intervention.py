"""Joint distributions, importances, quantiles, neighbours and rank correlations, src/unbraid/report/intervention.py."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.tiny import make
from unbraid.data import Dataset, FactorSpace, under_law
from unbraid.methods import Intervention
from unbraid.model import Model
from unbraid.report import importance_chart, joint_chart, neighbours, quantile_traversals, rank_chart
from unbraid.report.charts import file_bytes
from unbraid.report.intervention import interventions, joint, noted


def dataset(size: int = 60) -> Dataset:
    space = FactorSpace({"a": 3, "b": 2})
    images = torch.randint(0, 255, (size, 1, 3, 3), generator=torch.Generator().manual_seed(0)).to(
        torch.uint8
    )
    return Dataset(images, name="made", space=space, combinations=torch.arange(size) % 6)


def model(**settings: int) -> Model:
    return Model(make(Intervention, **settings).float(), (1, 3, 3))


def test_the_joint_distribution_is_exact_and_its_largest_entry_one() -> None:
    """The ridge of σ = 0.5: a in {0, ½, 1} and b in {0, 1}, at gaps of 0, ½ and 1."""
    table = joint(under_law(dataset(), correlate=("a", "b"), sigma=0.5), "a", "b")
    one, half = np.exp(-0.5 / 0.25), np.exp(-0.125 / 0.25)
    assert_close(table, np.array([[1.0, one], [half, half], [one, 1.0]]))
    assert_close(joint(dataset(), "b", "a"), np.ones((2, 3)))
    with pytest.raises(ValueError, match="no factor 'c'"):
        joint(dataset(), "a", "c")
    with pytest.raises(ValueError, match="no known factors"):
        joint(Dataset(torch.zeros(4, 1, 2, 2), name="plain"), "a", "b")


def test_charts_are_files_on_both_grounds() -> None:
    importances = np.array([[0.9, 0.1], [0.2, 0.8], [0.0, 0.0]])
    for dark in (False, True):
        charts = [
            joint_chart(dataset(), "a", "b", dark=dark),
            importance_chart(importances, ["a", "b"], highlight=["a"], dark=dark),
            rank_chart(["dci", "sap"], np.array([[1.0, -0.4], [-0.4, 1.0]]), dark=dark),
        ]
        assert all(file_bytes(chart, "svg").startswith(b"<?xml") for chart in charts)


def test_the_correlated_factor_s_best_code_is_framed_in_red() -> None:
    chart = importance_chart(np.array([[0.1, 0.9], [0.8, 0.2]]), ["a", "b"], highlight=["a"])
    (frame,) = [patch for patch in chart.axes[0].patches]
    assert (frame.get_x(), frame.get_y()) == (-0.5, 0.5)  # type: ignore[attr-defined]
    assert chart.axes[0].get_xticklabels()[0].get_color() != chart.axes[0].get_xticklabels()[1].get_color()
    assert chart.axes[0].get_ylabel() == "code"
    strands = importance_chart(np.eye(2), ["a", "b"], codes=["z0", "z1"])
    assert strands.axes[0].get_ylabel() == "strand"


def test_traversals_go_from_quantile_to_quantile(monkeypatch: pytest.MonkeyPatch) -> None:
    trained, seen = model(), []

    def traverse(x: Tensor, code: int, values: Tensor) -> Tensor:
        seen.append(values)
        return torch.zeros(len(values), 1, 1, 3, 3)

    monkeypatch.setattr(trained, "traverse", traverse)
    codes = torch.arange(512).float()[:, None].expand(-1, 4) / 511
    monkeypatch.setattr(trained, "encode", lambda x: codes)
    figure = quantile_traversals(trained, dataset(), codes=[2, 3], notes=["a", "b"], marked=[3], steps=5)
    assert_close(seen[0], torch.linspace(0.1, 0.9, 5))
    assert figure.rows[0].label == "code 2" and figure.rows[0].note == "a"
    assert [row.marked for row in figure.rows] == [False, True] and "in red" in figure.caption
    assert figure.columns == ("10 %", "", "", "", "90 %")
    with pytest.raises(ValueError, match="Quantiles run from 0 to 1"):
        quantile_traversals(trained, dataset(), between=(0.9, 0.1))


def test_the_correlated_factors_codes_come_first_with_what_they_matter_for() -> None:
    importances = {
        "a": np.array([0.7, 0.1, 0.2]),
        "b": np.array([0.1, 0.8, 0.1]),
        "c": np.array([0.6, 0.2, 0.2]),
    }
    assert noted(importances, [0, 1, 2], ("b",)) == {
        "codes": [1, 0],
        "notes": ["b, correlated", "a and c"],
        "marked": [1],
    }
    assert noted(importances, [5, 3, 9], ("b",))["codes"] == [3, 5]
    assert noted({}, [0, 1]) == {}


def test_neighbours_lie_nearest_in_their_strand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes of which z0 is a picture's first pixel: its neighbours are the pictures with the nearest first pixels."""
    trained = model(features=2, dimensions=2)

    def encode(x: Tensor) -> Tensor:
        pixels = x.flatten(1)
        return torch.stack([pixels[:, 0], pixels[:, 0], pixels[:, 4], 0 * pixels[:, 0]], 1)

    monkeypatch.setattr(trained, "encode", encode)
    figure = neighbours(trained, dataset(), queries=2, nearest=3)
    assert figure.columns == ("", "z0", "", "", "z1", "", "") and len(figure.rows) == 2
    drawn = dataset().draw(2000, torch.Generator().manual_seed(0)).unique()
    every = dataset().observe(drawn).flatten(1)
    for row in figure.rows:
        shown = row.images.flatten(1)
        for pixel, part in ((0, shown[1:4]), (4, shown[4:7])):
            gaps = (every[:, pixel] - shown[0, pixel]).abs().sort().values[1:4]
            assert_close((part[:, pixel] - shown[0, pixel]).abs(), gaps)
    with pytest.raises(ValueError, match="no strands to compare by"):
        neighbours(model(), dataset())
    with pytest.raises(ValueError, match="among 70 images at least; got 60"):
        neighbours(trained, dataset(), queries=67)


def test_an_intervention_takes_a_feature_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """With pixels for codes, three features are the three lines of a picture; set back, each picture is whole again."""
    monkeypatch.setattr(Intervention, "encode", lambda self, x, given=None: x.flatten(1))
    monkeypatch.setattr(Intervention, "decode", lambda self, codes, given=None: codes.view(-1, 1, 3, 3))
    figure = interventions(model(features=3, dimensions=3), dataset(), strands=["z1"], count=4)
    image, other, decoded, changed, back = (row.images for row in figure.rows)
    expected = image.clone()
    expected[:, :, 1] = other[:, :, 1]
    assert_close(changed, expected)
    assert_close(decoded, image)
    assert_close(back, image)
    assert [row.label for row in interventions(model(features=3, dimensions=3), dataset()).rows[3::2]] == [
        "z0 of other",
        "z1 of other",
        "z2 of other",
    ]
