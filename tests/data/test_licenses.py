"""Licenses of data, src/unbraid/data/licenses.py."""

import pytest

from unbraid.data.licenses import DIGITS, GENERATED, LICENSES, license
from unbraid.data.registry import DATASETS, open_dataset


def test_only_datasets_with_a_name_are_listed() -> None:
    assert {*LICENSES, *DIGITS} <= DATASETS.keys()


@pytest.mark.parametrize("name", DIGITS)
def test_bundled_digits_and_mnist_have_different_licenses(name: str) -> None:
    options = {"digits": "bundled"} | ({"pairs": 10} if name == "mnist-stl10" else {})
    assert "UCI" in license(open_dataset(name, **options).description())


def test_mnist_and_photographs_are_named() -> None:
    assert "MNIST" in license({"name": "mnist", "origin": {"name": "digits"}})
    grassy = {"origin": {"name": "grassy-mnist"}}
    assert "photographs" in license(grassy | {"name": "grassy-mnist"})
    assert "photographs" not in license(grassy | {"name": "grassy-mnist-painted"})


def test_generated_data_and_unknown_data() -> None:
    assert license({"name": "sprites", "origin": {"name": "sprites"}}) == GENERATED
    assert license({"name": "mine", "origin": {"name": "/home/me/mine"}}) == ""
    assert license({"name": "mine", "origin": None}) == ""
