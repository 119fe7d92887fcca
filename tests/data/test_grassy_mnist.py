"""Digits over grass, src/unbraid/data/grassy_mnist.py."""

import pytest
import torch
from torch.testing import assert_close

from unbraid.data.grassy_mnist import grassy_mnist, mix_images
from unbraid.data.mnist import read_digits

SMALL = {"per_digit": 12, "patches": 30, "digits": "bundled", "grass": "painted"}


def test_eq_10_and_eq_11_by_hand() -> None:
    y = torch.tensor([0.2, 0.3, 0.4, 0.8]).view(1, 1, 2, 2).repeat(1, 2, 1, 1)
    y[:, 1] = 1.0  # a second channel that is bright everywhere
    t = torch.tensor([1.0, 1.0, 0.0, 0.5]).view(1, 1, 2, 2)
    linear = torch.tensor([0.8, 0.825, 0.1, 0.575]).view(2, 2)  # ¼ y + ¾ t
    assert_close(mix_images(y, t, "linear", 0.25, 0.3)[0, 0], linear)
    # Only where that very channel of the grass is above 0.3: the first two pixels of it are black.
    assert_close(mix_images(y, t, "nonlinear", 0.25, 0.3)[0, 0], linear * torch.tensor([[0, 0], [1, 1]]))
    assert_close(mix_images(y, t, "nonlinear", 0.25, 0.3)[0, 1], mix_images(y, t, "linear", 0.25, 0.3)[0, 1])


def test_every_image_is_a_digit_over_one_of_the_patches() -> None:
    data = grassy_mnist(rho=0.5, **SMALL)
    assert data.background is not None and len(data) == 120 and len(data.background) == 30
    assert data.label == "digit" and data.shape == data.background.shape == (3, 28, 28)
    images, labels = read_digits(digits="bundled")
    x, y = data.observe(torch.arange(120)), data.background.observe(torch.arange(30))
    for row in (0, 47, 119):
        digit = int(data.combinations[row])  # type: ignore[index]
        t = images[labels == digit].float()[:, None] / 255
        apart = (x[row] - (0.5 * y[:, None] + 0.5 * t[None])).abs().amax((2, 3, 4))
        assert apart.min() < 0.003  # a rounded byte


def test_classes_are_balanced_and_small_sets_give_what_they_have() -> None:
    counts = grassy_mnist(**SMALL).combinations.bincount()  # type: ignore[union-attr]
    assert counts.tolist() == [12] * 10
    _, labels = read_digits(digits="bundled")
    many = grassy_mnist(**(SMALL | {"per_digit": 4986}))
    fewest = int(labels.bincount().min())
    assert many.combinations.bincount().tolist() == [fewest - fewest // 13] * 10  # type: ignore[union-attr]


def test_the_threshold_blackens_dark_grass() -> None:
    lost = []
    for threshold in (0.0, 0.3, 0.6):
        data = grassy_mnist(mix="nonlinear", threshold=threshold, **SMALL)
        lost.append(float((data.observe(torch.arange(120)) == 0).float().mean()))
    assert lost[0] < lost[1] < lost[2]
    assert grassy_mnist(mix="nonlinear", **SMALL).name == "grassy-digits-nonlinear-painted"


def test_the_seed_decides() -> None:
    first, same, other = (grassy_mnist(grass_seed=seed, **SMALL).description() for seed in (0, 0, 1))
    assert first == same and first["fingerprint"] != other["fingerprint"]
    assert first["background"]["name"] == "painted-grass"


def test_splits_share_neither_digits_nor_grass() -> None:
    parts = {
        part: grassy_mnist(
            split=part, rho=0.0, **(SMALL | {"per_digit": 4986, "patches": 400})
        )  # digits alone
        for part in ("train", "validation", "test")
    }
    assert [data.name for data in parts.values()] == [
        f"grassy-digits-painted{ending}" for ending in ("", "-validation", "-test")
    ]
    assert len(parts["validation"]) == 10 * (len(parts["train"]) // 10 // 12)
    shown = [{image.numpy().tobytes() for image in data.source} for data in parts.values()]  # type: ignore[union-attr]
    assert not shown[0] & shown[1] and not shown[0] & shown[2] and not shown[1] & shown[2]
    grass = [data.background.source for data in parts.values()]  # type: ignore[union-attr]
    shown = [{image.numpy().tobytes() for image in patches} for patches in grass]  # type: ignore[union-attr]
    assert not shown[0] & shown[1] and not shown[0] & shown[2] and not shown[1] & shown[2]


def test_mistakes_get_one_sentence() -> None:
    for wrong in ({"rho": 1.5}, {"threshold": -0.1}, {"per_digit": 0}):
        with pytest.raises(ValueError, match="must be from 0 to 1, and per_digit at least 1"):
            grassy_mnist(**(SMALL | wrong))  # type: ignore[arg-type]
