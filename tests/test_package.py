"""The public names, src/unbraid/__init__.py."""

import subprocess
import sys
from types import ModuleType

import pytest

import unbraid


@pytest.mark.parametrize("name", unbraid.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert isinstance(getattr(unbraid, name), ModuleType) == (name in unbraid._PACKAGES)


@pytest.mark.parametrize("name", ["train", "evaluate", "export", "study", "results", "select"])
def test_a_function_is_not_hidden_by_the_module_of_its_name(name: str) -> None:
    """In a process of its own, since imports here are done already."""
    script = f"import unbraid.{name}, unbraid; unbraid.{name}.__code__; from unbraid import {name}; {name}.__code__"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        unbraid.nonsense  # noqa: B018
