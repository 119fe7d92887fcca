"""Figures of target and background, src/unbraid/report/contrast.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.data.dataset import Dataset
from unbraid.data.faces import faces
from unbraid.data.factors import FactorSpace
from unbraid.data.sprites import sprites
from unbraid.methods import VAE, PrincipledContrast, RbVAE
from unbraid.methods.base import build_method
from unbraid.report.charts import file_bytes
from unbraid.report.contrast import (
    _two_classes,
    both_reconstructed,
    has_contrast,
    salient_grid,
    salient_map,
    strands_apart,
    target_and_background,
)
from unbraid.report.figures import examples
from unbraid.runs.model import Model

DATA = faces(show="accessories", per_class=40, plain=40, image_size=28)


@pytest.fixture(scope="module")
def model() -> Model:
    torch.manual_seed(0)
    return Model(build_method(PrincipledContrast, DATA.shape, n=80, common_dim=3, salient_dim=2), DATA.shape)


def test_they_are_for_models_with_both_strands_and_data_with_a_background(model: Model) -> None:
    assert has_contrast(model, DATA)
    assert not has_contrast(model, sprites(image_size=28))
    assert not has_contrast(Model(build_method(VAE, DATA.shape, n=80), DATA.shape), DATA)


def test_target_and_background_side_by_side() -> None:
    figure = target_and_background(DATA, count=5)
    assert [row.label for row in figure.rows] == ["target", "background"]
    with pytest.raises(ValueError, match="sprites has no background"):
        target_and_background(sprites(image_size=28))


def test_strands_are_decoded_apart(model: Model) -> None:
    rows = strands_apart(model, DATA, count=4).rows
    x = examples(DATA, 4)
    codes = model.encode(x)
    assert_close(rows[0].images, x)
    assert_close(rows[1].images, model.decode(codes))
    without = codes.clone()
    without[:, 3:] = 0
    assert_close(rows[2].images, model.decode(without))
    alone = codes.clone()
    alone[:, :3] = 0
    assert_close(rows[3].images, model.decode(alone))


def test_the_background_is_decoded_at_its_reference() -> None:
    torch.manual_seed(0)
    method = build_method(RbVAE, DATA.shape, n=80, common_dim=3, salient_dim=2)
    with torch.no_grad():
        method.s_r.copy_(torch.tensor([2.0, -1.0]))
    model = Model(method, DATA.shape)
    rows = both_reconstructed(model, DATA, count=3).rows
    assert DATA.background is not None
    codes = model.encode(examples(DATA.background, 3))
    codes[:, 3:] = torch.tensor([2.0, -1.0])
    assert_close(rows[1].images, model.decode(codes))
    assert_close(rows[3].images, model.reconstruct(examples(DATA, 3)))


def test_the_grid_goes_from_one_salient_code_to_another_with_the_common_code_held(model: Model) -> None:
    grid = salient_grid(model, DATA, size=3)
    start, end = model.encode(_two_classes(DATA, seed=0))
    corner = torch.cat([start[:3], end[3:]])
    images = torch.stack([row.images for row in grid.rows])
    assert images.shape[:2] == (3, 3)
    assert_close(images[0, 0], model.decode(start)[0])
    assert_close(images[2, 2], model.decode(corner)[0])
    middle = torch.cat([start[:3], torch.lerp(start[3:], end[3:], 0.5)])
    assert_close(images[1, 1], model.decode(middle)[0])
    side = torch.cat([start[:3], end[3:4], start[4:]])  # down: the first salient code alone
    assert_close(images[2, 0], model.decode(side)[0])


def test_the_grid_goes_from_one_class_to_another() -> None:
    labels = torch.tensor([0] * 9 + [1])
    images = (100 * labels).to(torch.uint8)[:, None, None, None].expand(-1, 1, 2, 2)
    known = {"factor_space": FactorSpace({"label": 2}), "combinations": labels, "label": "label"}
    for seed in range(10):
        first, second = _two_classes(Dataset(images, name="few", **known), seed=seed)
        assert not torch.equal(first, second)
    assert _two_classes(Dataset(images, name="unlabeled"), seed=0).shape == (2, 1, 2, 2)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_map_shows_nothing_twice(model: Model) -> None:
    """Of 80 observations of the target 80, and of 40 of the background a third as many."""
    drawn = [len(dots.get_offsets()) for dots in salient_map(model, DATA, count=1000).axes[0].collections]
    assert drawn == [40, 40, 26]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_map_shows_every_class_and_the_background(model: Model) -> None:
    figure = salient_map(model, DATA, count=60)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["hat", "glasses", "background"]
    assert len(file_bytes(figure, "png")) > 1000
