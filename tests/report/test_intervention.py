"""Quantile traversals, neighbors and interventions, src/unbraid/report/intervention.py."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.tiny import make
from unbraid.data import Dataset, FactorSpace
from unbraid.methods import Intervention
from unbraid.report.intervention import annotate_rows, interventions, neighbors, quantile_traversals
from unbraid.runs.model import Model


def dataset(size: int = 60) -> Dataset:
    space = FactorSpace({"a": 3, "b": 2})
    images = torch.randint(0, 255, (size, 1, 3, 3), generator=torch.Generator().manual_seed(0)).to(
        torch.uint8
    )
    return Dataset(images, name="made", factor_space=space, combinations=torch.arange(size) % 6)


def model(**settings: int) -> Model:
    return Model(make(Intervention, **settings).float(), (1, 3, 3))


def test_traversals_go_from_quantile_to_quantile(monkeypatch: pytest.MonkeyPatch) -> None:
    trained, seen = model(), []

    def traverse(x: Tensor, dim: int, values: Tensor) -> Tensor:
        seen.append(values)
        return torch.zeros(len(values), 1, 1, 3, 3)

    monkeypatch.setattr(trained, "traverse", traverse)
    codes = torch.arange(512).float()[:, None].expand(-1, 4) / 511
    monkeypatch.setattr(trained, "encode", lambda x: codes)
    figure = quantile_traversals(trained, dataset(), dims=[2, 3], notes=["a", "b"], highlight=[3], steps=5)
    assert_close(seen[0], torch.linspace(0.1, 0.9, 5))
    assert figure.rows[0].label == "dimension 2" and figure.rows[0].note == "a"
    assert [row.highlighted for row in figure.rows] == [
        False,
        True,
    ] and "Red: dimensions of correlated factors." in figure.caption
    assert figure.columns == ("10 %", "", "", "", "90 %")
    with pytest.raises(ValueError, match="0 <= low < high <= 1"):
        quantile_traversals(trained, dataset(), between=(0.9, 0.1))


def test_the_correlated_factors_codes_come_first_with_what_they_matter_for() -> None:
    importances = {
        "a": np.array([0.7, 0.1, 0.2]),
        "b": np.array([0.1, 0.8, 0.1]),
        "c": np.array([0.6, 0.2, 0.2]),
    }
    assert annotate_rows(importances, [0, 1, 2], ("b",)) == {
        "dims": [1, 0],
        "notes": ["b, correlated", "a and c"],
        "highlight": [1],
    }
    assert annotate_rows(importances, [5, 3, 9], ("b",))["dims"] == [3, 5]
    assert annotate_rows({}, [0, 1]) == {}


def test_neighbors_lie_nearest_in_their_strand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes of which z0 is a picture's first pixel: its neighbors are the pictures with the nearest first pixels."""
    trained = model(num_features=2, feature_dim=2)

    def encode(x: Tensor) -> Tensor:
        pixels = x.flatten(1)
        return torch.stack([pixels[:, 0], pixels[:, 0], pixels[:, 4], 0 * pixels[:, 0]], 1)

    monkeypatch.setattr(trained, "encode", encode)
    figure = neighbors(trained, dataset(), queries=2, nearest=3)
    assert figure.columns == ("", "z0", "", "", "z1", "", "") and len(figure.rows) == 2
    drawn = dataset().sample_indices(2000, torch.Generator().manual_seed(0)).unique()
    every = dataset().observe(drawn).flatten(1)
    for row in figure.rows:
        shown = row.images.flatten(1)
        for pixel, part in ((0, shown[1:4]), (4, shown[4:7])):
            gaps = (every[:, pixel] - shown[0, pixel]).abs().sort().values[1:4]
            assert_close((part[:, pixel] - shown[0, pixel]).abs(), gaps)
    with pytest.raises(ValueError, match="no feature strands"):
        neighbors(model(), dataset())
    with pytest.raises(ValueError, match="at least 70 different images; got 60"):
        neighbors(trained, dataset(), queries=67)


def test_an_intervention_takes_a_feature_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """With pixels for codes, three features are the three lines of a picture; set back, each picture is whole again."""
    monkeypatch.setattr(Intervention, "encode", lambda self, x, condition=None: x.flatten(1))
    monkeypatch.setattr(Intervention, "decode", lambda self, codes, condition=None: codes.view(-1, 1, 3, 3))
    figure = interventions(model(num_features=3, feature_dim=3), dataset(), strands=["z1"], count=4)
    image, other, decoded, changed, back = (row.images for row in figure.rows)
    expected = image.clone()
    expected[:, :, 1] = other[:, :, 1]
    assert_close(changed, expected)
    assert_close(decoded, image)
    assert_close(back, image)
    assert [
        row.label for row in interventions(model(num_features=3, feature_dim=3), dataset()).rows[3::2]
    ] == [
        "z0 of other",
        "z1 of other",
        "z2 of other",
    ]
