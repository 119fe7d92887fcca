"""Digits in color, src/unbraid/data/colored_digits.py."""

import math

import pytest
import torch
from scipy.stats import chisquare
from torch.testing import assert_close

from unbraid.data.colored_digits import colored_mnist, rotation_colored_mnist
from unbraid.data.dataset import Dataset
from unbraid.data.draws import PairDraw


def values_of(dataset: Dataset) -> torch.Tensor:
    values = dataset.factors(dataset.indices())
    assert values is not None
    return values


def bundled(**options: object) -> Dataset:
    return colored_mnist(digits="bundled", **options)


def turned(**options: object) -> Dataset:
    return rotation_colored_mnist(digits="bundled", **options)


def test_each_training_digit_has_two_different_colorings_kept_by_the_seed() -> None:
    values = values_of(bundled())
    pairs = values.view(1438, 2, 4)
    assert (pairs[:, 0, :2] == pairs[:, 1, :2]).all()
    assert ((pairs[:, 0, 2:] != pairs[:, 1, 2:]).any(1)).all()
    counts = torch.bincount(values[:, 2] * 6 + values[:, 3])
    assert len(counts) == 18 and chisquare(counts.numpy()).pvalue > 1e-3
    assert_close(values_of(bundled()), values)
    assert (values_of(bundled(color_seed=1)) != values).any()


def test_the_test_split_shows_every_digit_in_every_coloring_on_other_backgrounds() -> None:
    train, test = bundled(), bundled(split="test")
    values = values_of(test).view(359, 18, 4)
    assert len(test) == 359 * 18
    assert len({tuple(row) for row in values[0, :, 2:].tolist()}) == 18
    assert values[:, :, 2].unique().tolist() == [3, 4, 5]
    assert values_of(train)[:, 2].unique().tolist() == [0, 1, 2]
    assert train.counts["nuisances"] == test.counts["nuisances"] == (6, 6)


def test_ood_validation_shows_held_out_digits_in_every_coloring_on_other_backgrounds() -> None:
    options = {
        "background_colors": ("c00000", "00c000"),
        "test_background_colors": ("0000c0",),
        "validation_digits": 100,
    }
    train, ood_validation, validation = (
        bundled(split=part, **options) for part in ("train", "ood-validation", "validation")
    )
    values = values_of(ood_validation).view(100, 6, 4)
    assert values[:, :, 2].unique().tolist() == [2] and values_of(train)[:, 2].unique().tolist() == [0, 1]
    assert (values[:, :, 3] == torch.arange(6)).all()
    held_out = set(values[:, 0, 1].tolist())
    assert held_out == set(values_of(validation)[:, 1].tolist())
    assert not held_out & set(values_of(train)[:, 1].tolist())
    assert train.counts["nuisances"] == ood_validation.counts["nuisances"] == (3, 6)


def test_what_is_seen_is_what_the_factors_say() -> None:
    dataset = bundled(split="test", image_size=32)
    assert dataset.shape == (3, 32, 32)
    rows = torch.arange(0, 359 * 18, 97)
    values = dataset.factors(rows)
    corner = (dataset.observe(rows)[:, :, 0, 0] * 255).round().long()
    backgrounds = [list(bytes.fromhex(dataset.value_names["background"][ground])) for ground in values[:, 2]]
    assert corner.tolist() == backgrounds


def test_roles_and_names() -> None:
    dataset = turned(split="test", color_set="hard")
    assert (dataset.label, dataset.instance) == ("digit", "image")
    assert (dataset.nuisances, dataset.hidden_nuisances) == (("background", "ink"), ("angle",))
    assert dataset.name == "rotation-colored-mnist-hard-bundled-test"
    assert bundled().name == "colored-mnist-bundled"


def test_angles_of_training_and_test() -> None:
    train, test = values_of(turned()), values_of(turned(split="test"))
    assert train[:, 4].unique().tolist() == [0, 1, 2, 3, 4]
    assert (train.view(-1, 2, 5)[:, 0, 4] == train.view(-1, 2, 5)[:, 1, 4]).all()
    assert test[:, 4].unique().tolist() == [5, 6, 7, 8]
    assert len(test) == 359 * 18 * 4 and len(test.unique(dim=0)) == len(test)
    assert turned().value_names["angle"][5:] == ["-75", "-65", "+65", "+75"]
    free = values_of(turned(angle_per_coloring=True)).view(-1, 2, 5)[:, :, 4]
    assert 0.7 < float((free[:, 0] != free[:, 1]).double().mean()) < 0.9  # 4 in 5
    assert values_of(turned(test_angles=(0.0, 65.0), split="test"))[:, 4].unique().tolist() == [0, 5]


def test_an_angle_of_zero_leaves_digits_unchanged() -> None:
    plain, straight = bundled(split="test"), turned(split="test", test_angles=(0.0,))
    rows = torch.arange(0, 6000, 501)
    assert_close(plain.observe(rows), straight.observe(rows))


def test_pairs_show_one_digit_in_two_colorings() -> None:
    dataset = turned()
    PairDraw(same_class=True).check(dataset)
    batch = PairDraw()(dataset, 500, torch.Generator().manual_seed(0), torch.tensor(0))
    assert (batch.factors[:, [0, 1, 4]] == batch.factors2[:, [0, 1, 4]]).all()
    assert_close(batch.k, (batch.factors != batch.factors2).sum(1))
    assert set(batch.k.tolist()) == {1, 2}
    assert_close(batch.labels, batch.labels2)


def test_a_free_angle_is_not_counted_among_what_changed() -> None:
    """On one background, two colorings of a digit differ in their ink, so k is 1 whatever the angles are."""
    dataset = turned(angle_per_coloring=True, background_colors=("c00000",))
    batch = PairDraw(same_class=True)(dataset, 500, torch.Generator().manual_seed(0), torch.tensor(0))
    assert batch.factors is not None and batch.factors2 is not None
    assert (batch.factors[:, 4] != batch.factors2[:, 4]).any()
    assert_close(batch.k, torch.ones(500, dtype=torch.long))


def test_a_split_never_separates_the_colorings_of_a_digit() -> None:
    kept, held_out = bundled().split(0.2, torch.Generator().manual_seed(0))
    images = [set(values_of(part)[:, 1].tolist()) for part in (kept, held_out)]
    assert not images[0] & images[1]
    assert (len(kept), len(held_out)) == (2 * 1150, 2 * 288)
    PairDraw().check(held_out)


def test_held_out_digits_are_in_no_other_split_and_in_training_colors() -> None:
    kept, held_out = (
        values_of(bundled(validation_digits=200)),
        values_of(bundled(validation_digits=200, split="validation")),
    )
    assert (len(kept), len(held_out)) == (2 * 1238, 2 * 200)
    whole = {tuple(row) for row in values_of(bundled()).tolist()}
    parts = [{tuple(row) for row in part.tolist()} for part in (kept, held_out)]
    assert parts[0] | parts[1] == whole and not parts[0] & parts[1]
    assert not {row[1] for row in parts[0]} & {row[1] for row in parts[1]}
    assert bundled(validation_digits=200, split="validation").name == "colored-mnist-bundled-validation"


def test_digit_colors_of_the_test_can_be_left_out_of_training() -> None:
    """Held-out digits on a background and in inks that training does not have, in one numbering of colors."""
    fold: dict[str, object] = {
        "background_colors": ("c00000", "00c000"),
        "test_background_colors": ("0000c0",),
        "digit_colors": ("ffffff", "ffff00", "00ffff"),
        "test_digit_colors": ("ff00ff", "ffffff"),
        "validation_digits": 300,
    }
    train, validation = bundled(**fold), bundled(**fold, split="ood-validation")
    for dataset, backgrounds, inks in ((train, {0, 1}, {0, 1, 2}), (validation, {2}, {0, 3})):
        values = dataset.factors(dataset.indices())
        assert values is not None
        assert set(values[:, 2].tolist()) == backgrounds and set(values[:, 3].tolist()) == inks
        assert dataset.value_names["ink"] == ("ffffff", "ffff00", "00ffff", "ff00ff")
    assert len(validation) == 300 * 2
    magenta = validation.indices()[validation.factors(validation.indices())[:, 3] == 3]  # type: ignore[index]
    assert (validation.observe(magenta).amax((2, 3)) > 0.5).tolist() == [[True, False, True]] * 300


def test_the_fingerprint_follows_colors_angles_and_seed() -> None:
    made = [
        bundled(),
        bundled(color_set="hard"),
        bundled(color_seed=1),
        bundled(split="test"),
        bundled(digit_colors=("ffffff",)),
        bundled(split="test", test_digit_colors=("ffffff",)),
        turned(),
        turned(test_angles=(30.0,)),
    ]
    assert len({dataset.description()["fingerprint"] for dataset in made}) == len(made)
    assert bundled().description() == bundled().to("cpu").description()


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: turned(angles=()), "list angles is empty: give at least one angle"),
        (lambda: turned(test_angles=()), "list test_angles is empty"),
        (lambda: turned(angles=(0.0, math.nan)), "angles must hold finite numbers of degrees; got 0, nan"),
        (lambda: turned(test_angles=(math.inf,)), "test_angles must hold finite numbers of degrees; got inf"),
        (lambda: turned(angles=(10.0, 10.0)), "list angles names an angle twice: 10, 10"),
        (lambda: bundled(digit_colors=()), "list digit_colors is empty: give at least one color"),
        (lambda: bundled(background_colors=()), "list background_colors is empty"),
        (lambda: bundled(digit_colors=("red",)), "written RRGGBB, such as ff8000; got 'red'"),
        (lambda: bundled(digit_colors=("ff0000", "ff0000")), "names a color twice"),
        (
            lambda: bundled(digit_colors=("ff0000",), test_background_colors=("#FF0000",)),
            "ff0000 is both a digit color and a background color",
        ),
        (
            lambda: bundled(split="validation"),
            "1 to 1437 can be held out for validation; got validation_digits=0",
        ),
        (lambda: turned(validation_digits=1438), "0 to 1437 can be held out"),
        (lambda: bundled(colorings=19), "1 to 18 different colorings, .* got colorings=19"),
        (lambda: PairDraw().check(bundled(colorings=1)), "some image has a single row"),
        (lambda: PairDraw(k=3).check(bundled()), "show the same image differ in 1 or 2 factors; got k=3"),
        (lambda: bundled(test_digit_colors=()), "list test_digit_colors is empty"),
    ],
)
def test_mistakes_get_one_sentence(mistake, sentence: str) -> None:  # noqa: ANN001
    with pytest.raises(ValueError, match=sentence):
        mistake()
