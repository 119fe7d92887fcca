"""Bounds on what is read into memory, src/unbraid/data/size_limit.py."""

from pathlib import Path

import pytest

from unbraid.data import size_limit
from unbraid.data.size_limit import VARIABLE, TooLargeError, available_memory, check_size, readable

PATH = Path("some.npz")
GB = 10**9


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(size_limit, "available_memory", lambda: 10 * GB)


def test_half_of_the_memory_is_the_bound() -> None:
    check_size(PATH, 5 * GB)
    with pytest.raises(
        TooLargeError, match=r"some.npz takes 5.0 GB in memory, more than half of the 10.0 GB"
    ) as caught:
        check_size(PATH, 5 * GB + 1)
    assert str(caught.value).endswith("Make it smaller, or set UNBRAID_MAX_READ=6GB to read it anyway.")


def test_a_small_file_that_expands_a_thousandfold_is_refused() -> None:
    with pytest.raises(
        TooLargeError, match=r"expands from 1.9 MB to 2.0 GB: such a file is constant or made to fill"
    ):
        check_size(PATH, 2 * GB, 1_900_000)
    check_size(PATH, 3_019_898_976, 14_669_965)  # the images of dSprites
    check_size(PATH, 10**8, 100_000)  # small enough to be harmless


def test_the_user_sets_another_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "20 gb")
    check_size(PATH, 20 * GB, 1)
    with pytest.raises(
        TooLargeError, match=r"some.npz takes 20.0 GB in memory, more than the 20.0 GB of UNBRAID_MAX_READ"
    ):
        check_size(PATH, 20 * GB + 1)
    for text, size in (("500MB", 500 * 10**6), ("1.5kb", 1_500), ("7", 7)):
        monkeypatch.setenv(VARIABLE, text)
        check_size(PATH, size)
        with pytest.raises(TooLargeError):
            check_size(PATH, size + 1)
    monkeypatch.setenv(VARIABLE, "a lot")
    with pytest.raises(
        ValueError, match="UNBRAID_MAX_READ must be a size such as 500MB or 16GB; got 'a lot'"
    ):
        check_size(PATH, 1)


def test_a_system_that_does_not_say_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limit, "available_memory", lambda: None)
    check_size(PATH, 10**15)


def test_sizes_are_readable() -> None:
    assert [readable(size) for size in (0, 999, 1_900_000, 2 * GB)] == [
        "0 bytes",
        "999 bytes",
        "1.9 MB",
        "2.0 GB",
    ]


def test_this_system_says_how_much_memory_it_has() -> None:
    found = available_memory()
    assert found is None or 10**7 < found < 10**15
