"""Choosing by name, src/unbraid/naming.py."""

import pytest

from unbraid.naming import choose, summary


def test_a_known_name_gives_its_entry() -> None:
    assert choose("method", "b", {"a": 1, "b": 2}) == 2


def test_an_unknown_name_is_answered_with_the_nearest_and_with_all() -> None:
    with pytest.raises(ValueError, match=r"no method 'beta-vea'; did you mean beta-vae.*beta-vae, dip-vae-i"):
        choose("method", "beta-vea", {"beta-vae": 1, "dip-vae-i": 2})


def test_a_name_like_no_other_is_answered_with_all() -> None:
    with pytest.raises(ValueError, match=r"There is no method 'xyz'\. The choices are beta-vae\."):
        choose("method", "xyz", {"beta-vae": 1})


def test_a_summary_is_the_first_paragraph_on_one_line() -> None:
    def thing() -> None:
        """What it is, said
        on two lines.

        More.
        """

    assert summary(thing) == "What it is, said on two lines." and summary(3.5).startswith("Convert")
    assert summary(lambda: None) == ""
