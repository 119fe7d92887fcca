"""What strands hold, src/unbraid/report/strand_figures.py."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.methods.base import Method
from unbraid.model import Model
from unbraid.report.strand_figures import code_changes, leaves, strand_edits, strand_maps
from unbraid.strands import Strands
from unbraid.types import Batch, Terms

SPACE = FactorSpace({"class": 2, "thing": 8, "colour": 5})


class Painter:
    """Three pixels: the class, the colour, and half of grey."""

    shape = (1, 1, 3)

    def __call__(self, values: Tensor) -> Tensor:
        pixels = torch.stack([values[:, 0] * 100, values[:, 2] * 20, torch.full_like(values[:, 0], 50)], 1)
        return pixels.to(torch.uint8).view(-1, 1, 1, 3)


class Copy(Method[Batch]):
    """A code that is the picture."""

    @property
    def strands(self) -> Strands:
        parts = {"predictive": [0], "known": [1], "unknown": [2], "nuisance": [1, 2]}
        return Strands(parts, size=3)

    def loss(self, batch: Batch) -> Terms:
        return Terms(batch.x.sum(), {})

    def encode(self, x: Tensor, given: Tensor | None = None) -> Tensor:
        return x.flatten(1)

    def decode(self, codes: Tensor, given: Tensor | None = None) -> Tensor:
        return codes.view(-1, 1, 1, 3)


def things(source: object = None) -> Dataset:
    """Eight things, the odd ones of class 1, in three colours each."""
    rows = [[thing % 2, thing, colour] for thing in range(8) for colour in (0, 1, 2)]
    return Dataset(
        Painter() if source is None else source,
        name="things",
        white=100,
        space=SPACE,
        combinations=SPACE.index(torch.tensor(rows)),
        label="class",
        nuisances=("colour",),
        instance="thing",
        value_names={"colour": ["red", "green", "blue", "black", "white"]},
    )


def model() -> Model:
    return Model(Copy(), (1, 1, 3))


def test_a_changed_factor_moves_the_codes_that_show_it() -> None:
    """The class moves code 0 alone, by 1 where two random observations differ by 1/2; the colour code 1 alone.

    Colours 0, 1 and 2: two different ones are 4/3 · 0.2 apart, two random ones 2/3 of that. Code 2 never moves.
    """
    changes = code_changes(model(), things(), count=3_000)
    assert changes.factors == ("class", "colour")
    expected = np.array([[2.0, 0.0, 0.0], [0.0, 1.5, 0.0]])
    assert_close(changes.change, expected.astype(np.float32), atol=0.1, rtol=0)


def test_only_what_is_stored_is_shown_of_stored_images() -> None:
    dataset = things()
    stored = things(Painter()(dataset.factors(dataset.rows())))
    changes = code_changes(model(), stored, count=50)
    assert changes.factors == ("class", "colour")
    two = stored._rows(torch.tensor([0, 4]))._with(instance=None)  # they differ in all three factors
    with pytest.raises(ValueError, match="no two observations that differ in one factor alone"):
        code_changes(model(), two)


def test_strands_are_exchanged_and_replaced_by_noise() -> None:
    figure = strand_edits(model(), things(), count=4)
    rows = {row.label: row.images.flatten(1) for row in figure.rows}
    assert list(rows) == [
        "original",
        "partner",
        "decoded",
        "nuisance of partner",
        "noise for predictive",
        "noise for nuisance",
    ]
    assert_close(rows["decoded"], rows["original"])
    assert_close(rows["original"][:, 0], rows["partner"][:, 0])
    assert (rows["original"][:, 1] != rows["partner"][:, 1]).all()
    assert_close(rows["nuisance of partner"][:, 1:], rows["partner"][:, 1:])
    assert_close(rows["noise for predictive"][:, 1:], rows["original"][:, 1:])
    assert (rows["noise for predictive"][:, 0] != rows["original"][:, 0]).all()
    assert_close(rows["noise for nuisance"][:, 0], rows["original"][:, 0])


def test_leaves_are_the_strands_that_hold_no_other() -> None:
    assert leaves(model().strands) == ("predictive", "known", "unknown")


def test_a_map_has_a_point_for_each_observation() -> None:
    maps = strand_maps(model(), things(), strands=("nuisance",), count=24)
    assert maps.factor == "colour" and set(maps.values) == {"red", "green", "blue"}
    assert maps.points["nuisance"].shape == (24, 2)
    same = strand_maps(model(), things(), strands=("nuisance",), count=24)
    assert_close(maps.points["nuisance"], same.points["nuisance"])


def test_mistakes_get_one_sentence() -> None:
    plain = Dataset(torch.zeros(4, 1, 1, 3), name="plain", white=1)
    with pytest.raises(ValueError, match="plain has no known factors"):
        code_changes(model(), plain)
    with pytest.raises(ValueError, match="plain names no nuisance or class"):
        strand_maps(model(), plain)
    with pytest.raises(ValueError, match="plain has no known"):
        strand_edits(model(), plain)
