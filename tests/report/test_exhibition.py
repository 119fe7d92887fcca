"""The page of several systems, src/unbraid/report/exhibition.py."""

from pathlib import Path

import pytest
import torch

from tests.report.test_page import Checker
from unbraid.report.exhibition import Exhibit, Measure, write_exhibition
from unbraid.report.figures import Figure, Row

MEASURE = Measure("accuracy", 0.75, -0.125, "a plain model", "The more the better.", chance=0.1)
EXHIBIT = Exhibit("first", "One & all", "Method", "A paper, 2020.", ["Words."], MEASURE)


def test_bars_are_as_long_as_their_numbers(tmp_path: Path) -> None:
    """Numbers are printed to two decimals; a bar stays between nothing and all."""
    too_much = EXHIBIT._replace(key="second", measure=Measure("R²", 1.02, 0.5, "none", ""))
    text = write_exhibition([EXHIBIT, too_much], tmp_path / "new" / "page.html", title="All").read_text()
    Checker(text)
    for share, number in (("0.750", "0.75"), ("0.000", "−0.12"), ("0.100", "0.10"), ("1.000", "1.02")):
        assert f'<i style="--share:{share}"></i><b>{number}</b>' in text
    assert "<b>0.75</b> <small>without it −0.12</small>" in text
    assert text.count("guessing") == 1 and "One &amp; all" in text


def test_what_an_exhibit_lacks_is_left_out(tmp_path: Path) -> None:
    plain = write_exhibition([EXHIBIT], tmp_path / "plain.html", title="All").read_text()
    assert "<figure" not in plain and "Play with" not in plain and "your own data" not in plain
    figure = Figure((Row("a row", torch.rand(3, 1, 8, 8)),), caption="Three.")
    whole = EXHIBIT._replace(
        figure=figure, look="Look.", explorer="there.html", commands=[("Type:", "unbraid list")]
    )
    text = write_exhibition([whole], tmp_path / "whole.html", title="All").read_text()
    assert "there.html" in Checker(text).sources
    assert "3 images" in text and "Look." in text and "<span>unbraid</span> <span>list</span>" in text


def test_words_cannot_inject_script(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>"
    exhibit = EXHIBIT._replace(
        title=bad, paragraphs=[bad], commands=[(bad, bad)], trained=[(bad, bad)], look=bad
    )
    text = write_exhibition([exhibit], tmp_path / "page.html", title=bad, after=[bad]).read_text()
    assert "<script" not in text
    Checker(text)


def test_an_empty_exhibition_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one system"):
        write_exhibition([], tmp_path / "page.html", title="None")
