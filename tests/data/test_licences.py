"""What is known of data's licences, src/unbraid/data/licences.py."""

import pytest

from unbraid.data.catalogue import DATASETS, open_dataset
from unbraid.data.licences import DIGITS, HERE, LICENCES, licence


def test_only_datasets_with_a_name_are_listed() -> None:
    assert {*LICENCES, *DIGITS} <= DATASETS.keys()


@pytest.mark.parametrize("name", DIGITS)
def test_bundled_digits_are_told_from_mnist(name: str) -> None:
    options = {"digits": "bundled"} | ({"pairs": 10} if name == "mnist-stl10" else {})
    assert "UCI" in licence(open_dataset(name, **options).description())


def test_mnist_and_photographs_are_named() -> None:
    assert "MNIST" in licence({"name": "mnist", "origin": {"name": "digits"}})
    grassy = {"origin": {"name": "grassy-mnist"}}
    assert "photographs" in licence(grassy | {"name": "grassy-mnist"})
    assert "photographs" not in licence(grassy | {"name": "grassy-mnist-painted"})


def test_what_is_made_here_and_what_is_not_known() -> None:
    assert licence({"name": "sprites", "origin": {"name": "sprites"}}) == HERE
    assert licence({"name": "mine", "origin": {"name": "/home/me/mine"}}) == ""
    assert licence({"name": "mine", "origin": None}) == ""
