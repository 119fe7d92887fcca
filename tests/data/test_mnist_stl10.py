"""Digits on photographs in pairs, src/unbraid/data/mnist_stl10.py."""

from pathlib import Path
from typing import get_args

import pytest
import torch
from torch import Generator
from torch.testing import assert_close

from unbraid.data.dataset_files import check_dataset
from unbraid.data.mnist_stl10 import (
    FACTOR_ORDER,
    NUM_PAIRS,
    ImagePool,
    OverlayRenderer,
    PairTable,
    Split,
    check_choices,
    draw_pairs,
    mnist_stl10,
)
from unbraid.data.registry import open_dataset

CLASSES = torch.arange(10).repeat(3)


def pool() -> ImagePool:
    """30 digits whose pixels hold 100 + their number, on 30 grounds that hold their number."""
    numbers = torch.arange(30, dtype=torch.uint8)
    digits = (100 + numbers)[:, None, None].expand(-1, 28, 28).clone()
    grounds = numbers[:, None, None, None].expand(-1, 3, 64, 64).clone()
    return ImagePool.of(digits, CLASSES, grounds, CLASSES.flip(0))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few textures, made once for all."""
    from unbraid.data import backgrounds

    monkeypatch.setattr(backgrounds, "TEXTURES", 20)


def bundled(tmp_path: Path, **options: object) -> object:
    settings = {"digits": "bundled", "backgrounds": "textures", "pairs": 50} | options
    return mnist_stl10(tmp_path, **settings)  # type: ignore[arg-type]


def test_a_digit_is_complete_at_one_of_eight_locations() -> None:
    """Two rows from 2 and 34, four columns from 0, 12, 24 and 36: numbered along the rows."""
    table = draw_pairs(pool(), FACTOR_ORDER["dc-bc"], 4, Generator().manual_seed(0))
    renderer = OverlayRenderer(pool(), table, FACTOR_ORDER["dc-bc"])
    digits, grounds = torch.arange(8), torch.arange(8) + 10
    pictures = renderer.compose(digits, grounds, torch.arange(8))
    for location, (picture, digit, ground) in enumerate(zip(pictures, digits, grounds, strict=True)):
        top, left = (2, 34)[location // 4], (0, 12, 24, 36)[location % 4]
        inked = torch.zeros(64, 64, dtype=torch.bool)
        inked[top : top + 28, left : left + 28] = True
        expected = torch.where(inked, 100 + digit, ground).to(torch.uint8)
        assert_close(picture, expected.expand(3, -1, -1))


def test_the_brighter_of_both_shows() -> None:
    pieces = pool()
    pieces.backgrounds[0, 1] = 255
    table = draw_pairs(pieces, FACTOR_ORDER["dc-bc"], 4, Generator().manual_seed(0))
    picture = OverlayRenderer(pieces, table, FACTOR_ORDER["dc-bc"]).compose(*torch.tensor([[7], [0], [0]]))[0]
    assert picture[0, 10, 10] == 107 and picture[1, 10, 10] == 255


@pytest.mark.parametrize("variant", FACTOR_ORDER)
def test_pairs_share_two_factors_always_differ_in_the_third_and_vary_the_instance(variant: str) -> None:
    order, pieces = FACTOR_ORDER[variant], pool()
    values, digits, backgrounds = draw_pairs(pieces, order, 4000, Generator().manual_seed(0))
    assert (values[:, 0, :2] == values[:, 1, :2]).all() and (values[:, 0, 2] != values[:, 1, 2]).all()
    named = dict(zip(order, values.unbind(2), strict=True))
    assert_close(CLASSES[digits], named["digit"])
    assert_close(CLASSES.flip(0)[backgrounds], named["background"])
    for name, most in (("digit", 10), ("background", 10), ("location", 8)):
        counts = torch.bincount(named[name].flatten(), minlength=most)
        assert len(counts) == most and (counts - 8000 / most).abs().max() < 120
    if "digit" in order[:2]:  # one of three drawings each: alike in a third of the pairs
        assert 0.28 < (digits[:, 0] == digits[:, 1]).double().mean() < 0.39
    partner = (values[:, 1, 2] - values[:, 0, 2]) % (8 if order[2] == "location" else 10)
    assert torch.bincount(partner)[1:].min() > 4000 / 10 - 120  # the other value is uniform


def test_the_varied_factor_selects_the_view() -> None:
    pieces = pool()
    values = torch.tensor([[[3, 5, 0], [3, 5, 6]], [[1, 1, 2], [1, 1, 0]]])
    table = PairTable(values, torch.tensor([[3, 13], [1, 11]]), torch.tensor([[4, 14], [8, 18]]))
    renderer = OverlayRenderer(pieces, table, FACTOR_ORDER["dc-bc"])
    asked = torch.tensor([[3, 5, 6, 0], [1, 1, 2, 1], [3, 5, 0, 0], [1, 1, 0, 1]])
    expected = renderer.compose(
        torch.tensor([13, 1, 3, 11]), torch.tensor([14, 8, 4, 18]), torch.tensor([6, 2, 0, 0])
    )
    assert_close(renderer(asked), expected)


@pytest.mark.usefixtures("small")
def test_the_dataset_knows_its_factors_and_pairs(tmp_path: Path) -> None:
    data = bundled(tmp_path, variant="dc-dl")
    assert data.shape == (3, 64, 64) and len(data) == 100
    assert data.factor_space.names == ("digit", "location", "background", "pair") and data.instance == "pair"
    assert data.label == "digit" and data.name == "mnist-stl10-dc-dl-bundled-textures-train"
    rows = torch.arange(100)
    partners = data.instance_index.sample_partner(rows, Generator().manual_seed(0))
    assert_close(partners, rows + 1 - 2 * (rows % 2))
    first, second = data.split(0.2, Generator().manual_seed(0))
    assert (
        len(first) == 80 and len(second) == 20 and second.instance_index.min_rows == 2
    )  # pairs are never parted
    assert data.observe(rows[:4]).max() <= 1 and data.nbytes > 0


@pytest.mark.usefixtures("small")
def test_splits_are_disjoint_and_pairs_are_fixed(tmp_path: Path) -> None:
    train, held_out, test = parts = [bundled(tmp_path, split=part) for part in get_args(Split)]
    again = bundled(tmp_path, split="train")
    for kind in ("digits", "backgrounds"):
        pictures = [{image.numpy().tobytes() for image in getattr(data.source.pool, kind)} for data in parts]
        assert (
            not pictures[0] & pictures[1] and not pictures[0] & pictures[2] and not pictures[1] & pictures[2]
        )
    shares = [len(data.source.pool.backgrounds) for data in parts]
    assert shares[0] == 8 * shares[1] == 8 * shares[2]
    assert held_out.name.endswith("-validation")
    assert train.description()["fingerprint"] == again.description()["fingerprint"]
    assert train.description()["fingerprint"] != test.description()["fingerprint"]
    assert_close(train.observe(torch.arange(10)), again.observe(torch.arange(10)), rtol=0, atol=0)
    moved = train.to("cpu")
    assert moved.description()["fingerprint"] == train.description()["fingerprint"]


@pytest.mark.usefixtures("small")
def test_half_the_size_shows_the_same(tmp_path: Path) -> None:
    full, half = bundled(tmp_path), bundled(tmp_path, image_size=32)
    assert half.shape == (3, 32, 32)
    pooled = torch.nn.functional.avg_pool2d(full.observe(torch.arange(6)), 2)
    assert_close(half.observe(torch.arange(6)), pooled, atol=0.51 / 255, rtol=0)


@pytest.mark.usefixtures("small")
def test_the_paper_s_numbers_are_the_default(tmp_path: Path) -> None:
    assert NUM_PAIRS == {"train": 100_000, "validation": 10_000, "test": 10_000}
    assert len(bundled(tmp_path, pairs=0, split="test")) == 20_000


@pytest.mark.usefixtures("small")
def test_it_has_a_name_and_needs_no_files(tmp_path: Path) -> None:
    options = {"digits": "bundled", "backgrounds": "textures", "pairs": 10}
    data = open_dataset("mnist-stl10", root=tmp_path, **options)
    assert data.origin == {"name": "mnist-stl10", "options": options}
    assert "is complete: 20 images of 3×64×64" in check_dataset("mnist-stl10", tmp_path, pairs=10)


def test_mistakes_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="variant must be dc-bc, dc-dl, bc-dl; got 'dc-xx'"):
        check_choices("dc-xx", "train")
    with pytest.raises(ValueError, match="split must be train, validation, test; got split='middle'"):
        check_choices("dc-bc", "middle")
    with pytest.raises(ValueError, match="image_size 64 or 32; got 50, 48"):
        bundled(tmp_path, image_size=48)
    with pytest.raises(ValueError, match="pairs must be at least 0"):
        bundled(tmp_path, pairs=-1)
    lacking = torch.zeros(30, dtype=torch.long)
    with pytest.raises(ValueError, match=r"Each of the 10 digit classes must occur"):
        ImagePool.of(torch.zeros(30, 28, 28), lacking, torch.zeros(30, 3, 64, 64), CLASSES)
