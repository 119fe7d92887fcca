"""Settings side by side, src/unbraid/report/settings.py."""

from unbraid.report.settings import settings_of, side_by_side, words
from unbraid.runs import Run


def test_settings_are_words(run: Run) -> None:
    found = settings_of(run)
    assert found["method"] == "beta-vae" and found["beta"] == "0.1" and found["shape"] == "1×32×32"
    assert found["observations"] == "737,280" and "origin" not in found


def test_each_kind_of_value_is_written_as_people_write_it() -> None:
    assert words(None) == "none" and words(True) == "True" and words([0.5, "a"]) == "0.5, a"
    assert words({"network": "MLPEncoder", "arguments": {"codes": 4}}) == "MLPEncoder (codes 4)"
    assert words({"plain": "adam:0.001"}) == "adam:0.001" and words({"own": "mine.Net"}) == "mine.Net"


def test_what_differs_is_marked() -> None:
    rows = side_by_side({"a": {"beta": "1", "codes": "4"}, "b": {"beta": "2", "codes": "4", "rate": "3"}})
    assert rows == [("beta", ["1", "2"], True), ("codes", ["4", "4"], False), ("rate", ["–", "3"], True)]
