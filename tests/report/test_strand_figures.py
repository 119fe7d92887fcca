"""What strands hold, src/unbraid/report/strand_figures.py."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.methods.base import Method
from unbraid.report.strand_figures import dim_changes, strand_edits, strand_maps
from unbraid.runs.model import Model
from unbraid.strands import Strands
from unbraid.types import Batch, Gaussian, Terms

SPACE = FactorSpace({"class": 2, "thing": 8, "color": 5})


class Painter:
    """Three pixels: the class, the color, and half of gray."""

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

    def encode(self, x: Tensor, condition: Tensor | None = None) -> Tensor:
        return x.flatten(1)

    def decode(self, codes: Tensor, condition: Tensor | None = None) -> Tensor:
        return codes.view(-1, 1, 1, 3)


def things(source: object = None) -> Dataset:
    """Eight things, the odd ones of class 1, in three colors each."""
    rows = [[thing % 2, thing, color] for thing in range(8) for color in (0, 1, 2)]
    return Dataset(
        Painter() if source is None else source,
        name="things",
        max_value=100,
        factor_space=SPACE,
        combinations=SPACE.index(torch.tensor(rows)),
        label="class",
        nuisances=("color",),
        instance="thing",
        value_names={"color": ["red", "green", "blue", "black", "white"]},
    )


def model() -> Model:
    return Model(Copy(), (1, 1, 3))


def test_a_changed_factor_moves_the_codes_that_show_it() -> None:
    """The class moves code 0 alone, by 1 where two random observations differ by 1/2; the color code 1 alone.

    Colors 0, 1 and 2: two different ones are 4/3 · 0.2 apart, two random ones 2/3 of that. Code 2 never moves.
    """
    changes = dim_changes(model(), things(), count=3_000)
    assert changes.factors == ("class", "color")
    expected = np.array([[2.0, 0.0, 0.0], [0.0, 1.5, 0.0]])
    assert_close(changes.change, expected.astype(np.float32), atol=0.1, rtol=0)


def test_only_what_is_stored_is_shown_of_stored_images() -> None:
    dataset = things()
    stored = things(Painter()(dataset.factors(dataset.indices())))
    changes = dim_changes(model(), stored, count=50)
    assert changes.factors == ("class", "color")
    two = stored.subset(torch.tensor([0, 4])).replace(instance=None)  # they differ in all three factors
    with pytest.raises(ValueError, match="no 8 pairs of observations that differ in one factor only"):
        dim_changes(model(), two)


class Swapping(Copy):
    """Swaps the class and the dimension of gray; the color is the one that changed."""

    def posterior(self, x: Tensor) -> Gaussian:
        return Gaussian(x.flatten(1), torch.zeros(len(x), 3))

    def swap_mask(self, q_l: Gaussian, q_m: Gaussian, k: Tensor) -> Tensor:
        assert (k == 1).all() and (q_l.mean[:, 1] != q_m.mean[:, 1]).all()
        return torch.tensor([True, False, True]).expand(len(k), 3)


def test_pairs_are_shown_as_in_figure_8() -> None:
    """Ten rows, both images of each pair: as they are, decoded, after the swap, and with noise for each strand."""
    figure = strand_edits(Model(Swapping(), (1, 1, 3)), things(), count=4)
    rows = {row.label: row.images.flatten(1) for row in figure.rows}
    changes = ("", " decoded", " after the swap", ", noise for predictive", ", noise for nuisance")
    assert list(rows) == [f"{image}{change}" for change in changes for image in ("image", "partner")]
    assert_close(rows["image"][:, 0], rows["partner"][:, 0])
    assert (rows["image"][:, 1] != rows["partner"][:, 1]).all()
    for image in ("image", "partner"):
        assert_close(rows[f"{image} decoded"], rows[image])
        assert_close(rows[f"{image} after the swap"], rows[image])  # only what both share was swapped
        assert_close(rows[f"{image}, noise for predictive"][:, 1:], rows[image][:, 1:])
        assert (rows[f"{image}, noise for predictive"][:, 0] != rows[image][:, 0]).all()
        assert_close(rows[f"{image}, noise for nuisance"][:, 0], rows[image][:, 0])
        assert (rows[f"{image}, noise for nuisance"][:, 1] != rows[image][:, 1]).all()


def test_a_swap_that_misses_the_changed_dimension_shows() -> None:
    class Wrong(Swapping):
        def swap_mask(self, q_l: Gaussian, q_m: Gaussian, k: Tensor) -> Tensor:
            return torch.tensor([True, True, False]).expand(len(k), 3)

    figure = strand_edits(Model(Wrong(), (1, 1, 3)), things(), count=4)
    rows = {row.label: row.images.flatten(1) for row in figure.rows}
    assert_close(rows["image after the swap"][:, 1], rows["partner"][:, 1])


def test_a_method_without_a_swap_has_the_other_rows() -> None:
    labels = [row.label for row in strand_edits(model(), things(), count=4).rows]
    assert len(labels) == 8 and not any("swap" in label for label in labels)


def test_a_map_has_a_point_for_each_observation() -> None:
    maps = strand_maps(model(), things(), strands=("nuisance",), count=24)
    assert maps.factor == "color" and set(maps.values) == {"red", "green", "blue"}
    assert maps.points["nuisance"].shape == (24, 2)
    same = strand_maps(model(), things(), strands=("nuisance",), count=24)
    assert_close(maps.points["nuisance"], same.points["nuisance"])


def test_mistakes_get_one_sentence() -> None:
    plain = Dataset(torch.zeros(4, 1, 1, 3), name="plain", max_value=1)
    with pytest.raises(ValueError, match="plain has no known factors"):
        dim_changes(model(), plain)
    with pytest.raises(ValueError, match="plain has no nuisance and no class"):
        strand_maps(model(), plain)
    with pytest.raises(ValueError, match="plain has no known"):
        strand_edits(model(), plain)
