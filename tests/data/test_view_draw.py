"""View pairs, src/unbraid/data/view_draw.py."""

from pathlib import Path

import pytest
import torch
from torch import Generator
from torch.testing import assert_close

from unbraid.data import backgrounds
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist_stl10 import mnist_stl10
from unbraid.data.view_draw import ViewDraw
from unbraid.types import ViewBatch

PLAIN = {"crop": 1.0, "flip": 0.0, "color_jitter": 0.0}
STEP = torch.tensor(0)


@pytest.fixture
def overlays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    monkeypatch.setattr(backgrounds, "TEXTURES", 20)
    return mnist_stl10(tmp_path, digits="bundled", backgrounds="textures", pairs=40, image_size=32)


def numbers() -> Dataset:
    """Rows that hold their row number, by three factors."""
    space = FactorSpace({"a": 2, "b": 3, "c": 4})
    return Dataset(torch.arange(24.0)[:, None], name="numbers", max_value=1, factor_space=space, label="b")


def draw(views: ViewDraw, dataset: Dataset, size: int = 64, seed: int = 0) -> ViewBatch:
    views.check(dataset)
    return views(dataset, size, Generator().manual_seed(seed), STEP)


def test_stored_pairs_stay_together(overlays: Dataset) -> None:
    batch = draw(ViewDraw(**PLAIN), overlays)
    assert (batch.factors[:, 3] == batch.factors2[:, 3]).all()  # the same pair
    assert (batch.factors[:, 2] != batch.factors2[:, 2]).all()
    assert_close(batch.labels, 10 * batch.factors[:, 0] + batch.factors[:, 1])
    row = int((overlays.factors(torch.arange(80)) == batch.factors[0]).all(1).nonzero()[0, 0])
    assert_close(batch.x1[0], overlays.observe(torch.tensor([row]))[0])


def test_redrawn_pairs_are_new_at_every_step(overlays: Dataset) -> None:
    batch = draw(ViewDraw(fresh_each_step=True, **PLAIN), overlays, size=200)
    assert (batch.factors[:, :2] == batch.factors2[:, :2]).all()
    assert (batch.factors[:, 2] != batch.factors2[:, 2]).all()
    stored = {image.numpy().tobytes() for image in overlays.observe(torch.arange(80))}
    assert sum(image.numpy().tobytes() in stored for image in batch.x1) < 20
    assert batch.x1.max() <= 1 and batch.x1.shape == (200, 3, 32, 32)


def test_named_factors_are_shared_and_all_others_differ() -> None:
    data = numbers()
    batch = draw(ViewDraw(shared=("b",)), data, size=500)
    same = batch.factors == batch.factors2
    assert same[:, 1].all() and not same[:, [0, 2]].any()
    assert_close(batch.labels, batch.factors[:, 1])
    assert_close(data.factor_space.index(batch.factors2).float(), batch.x2[:, 0])
    joint = draw(ViewDraw(shared=("c", "b")), data, size=500)
    assert_close(joint.labels, 3 * joint.factors[:, 2] + joint.factors[:, 1])


def test_without_factors_both_views_show_the_same_image() -> None:
    data = Dataset(torch.randint(0, 256, (30, 3, 16, 16), dtype=torch.uint8), name="images")
    plain, distorted = draw(ViewDraw(**PLAIN), data), draw(ViewDraw(), data)
    assert_close(plain.x1, plain.x2)
    assert plain.labels is None and plain.factors is None
    assert (distorted.x1 != distorted.x2).flatten(1).any(1).all()


def test_a_label_is_kept_where_views_show_the_same_image() -> None:
    images = torch.randint(0, 256, (6, 1, 16, 16), dtype=torch.uint8)
    space = FactorSpace({"digit": 3})
    classes = torch.tensor([0, 1, 2, 0, 1, 2])
    data = Dataset(images, name="few", factor_space=space, combinations=classes, label="digit")
    batch = draw(ViewDraw(**PLAIN), data)
    assert_close(batch.labels, batch.factors[:, 0])


def test_draws_follow_the_generator(overlays: Dataset) -> None:
    first, same, other = (draw(ViewDraw(), overlays, seed=seed) for seed in (0, 0, 1))
    assert_close(first.x2, same.x2, rtol=0, atol=0)
    assert (first.x2 != other.x2).any()


def test_mistakes_get_one_sentence(overlays: Dataset) -> None:
    with pytest.raises(ValueError, match="crop must be above 0 and at most 1"):
        ViewDraw(crop=0.0).check(overlays)
    with pytest.raises(ValueError, match="requires the dataset mnist-stl10"):
        ViewDraw(fresh_each_step=True).check(numbers())
    with pytest.raises(ValueError, match="whose rows come in pairs that decide what views share"):
        ViewDraw(shared=("digit",)).check(overlays)
    with pytest.raises(ValueError, match="There is no factor 'color'"):
        ViewDraw(shared=("color",)).check(numbers())
    with pytest.raises(ValueError, match="cannot share a, b, c and differ in all other factors"):
        ViewDraw(shared=("a", "b", "c")).check(numbers())
    with pytest.raises(ValueError, match="The rows of numbers cannot be cropped"):
        ViewDraw().check(numbers())
    with pytest.raises(ValueError, match="no known factors that two views could share"):
        ViewDraw(shared=("a",)).check(Dataset(torch.zeros(4, 3), name="rows", max_value=1))
