"""Losses and scores stay what they were while code is moved and renamed; the table is tests/frozen_numbers.json."""

import functools
import json
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.test_benchmarks import script
from unbraid.data import grass

frozen: ModuleType = script("frozen_numbers")


@pytest.fixture(autouse=True, scope="module")
def shared_grass() -> Iterator[None]:
    """Grass is painted once for all datasets that show it, which only read it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grass, "paint_grass", functools.cache(grass.paint_grass))
        yield


@pytest.mark.parametrize("name", frozen.PLANS)
def test_no_number_has_changed(name: str) -> None:
    table = json.loads(frozen.TABLE.read_text())
    assert frozen.difference(name, frozen.measure(name), table) is None


def test_a_changed_number_is_noticed() -> None:
    """Of the exact comparison, where the machine is that of the table, and of the close one elsewhere."""
    table = json.loads(frozen.TABLE.read_text())
    table["runs"] = {"vae": {"losses": [[1.0, 2.0]]}}
    here = table | {"machine": frozen.machine()}
    assert frozen.difference("vae", {"losses": [[1.0, 2.0]]}, here) is None
    assert "step 1" in frozen.difference("vae", {"losses": [[1.0, 2.0 + 1e-12]]}, here)
    elsewhere = table | {"machine": {}}
    assert frozen.difference("vae", {"losses": [[1.0, 2.0 + 1e-12]]}, elsewhere) is None
    assert "term 1 of step 1" in frozen.difference("vae", {"losses": [[1.0, 2.1]]}, elsewhere)
