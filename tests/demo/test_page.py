"""The demo page, src/unbraid/demo/page.py."""

from pathlib import Path

import pytest
import torch

from tests.report.test_page import Checker
from unbraid.demo.page import DemoSection, HeadlineScore, write_demo_page
from unbraid.report.figures import Figure, Row

SCORE = HeadlineScore(
    "accuracy", 0.75, -0.125, "a plain model", "Of ten classes.", chance=0.1, higher_is_better=True
)
SECTION = DemoSection("One & all", ["Words."], SCORE, "first", "Method", "A paper, 2020.")


def test_the_length_of_a_bar_is_the_score(tmp_path: Path) -> None:
    """Scores are printed to two decimals; the length of a bar is limited to [0, 1]."""
    above_one = SECTION._replace(key="second", score=HeadlineScore("R²", 1.02, 0.5, "none", ""))
    text = write_demo_page([SECTION, above_one], tmp_path / "new" / "page.html", title="All").read_text()
    Checker(text)
    for share, number in (("0.750", "0.75"), ("0.000", "−0.12"), ("0.100", "0.10"), ("1.000", "1.02")):
        assert f'<i style="--share:{share}"></i><b>{number}</b>' in text
    assert "<b>0.75</b> <small>baseline −0.12</small>" in text
    assert text.count("<dt>chance</dt>") == 1 and "One &amp; all" in text
    assert "Of ten classes. Higher is better.</p>" in text and text.count("is better") == 1


def test_missing_parts_of_a_section_are_left_out(tmp_path: Path) -> None:
    plain = write_demo_page([SECTION], tmp_path / "plain.html", title="All").read_text()
    assert "<figure" not in plain and "Open the explorer" not in plain and "your data" not in plain
    figure = Figure((Row("a row", torch.rand(3, 1, 8, 8)),), caption="Three.")
    complete = SECTION._replace(
        figure=figure, what_to_look_for="Look.", explorer="there.html", commands=[("Type:", "unbraid list")]
    )
    text = write_demo_page([complete], tmp_path / "complete.html", title="All").read_text()
    assert "there.html" in Checker(text).sources
    assert "3 images" in text and "Look." in text and "<span>unbraid</span> <span>list</span>" in text


def test_text_cannot_inject_script(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>"
    section = SECTION._replace(
        title=bad, paragraphs=[bad], commands=[(bad, bad)], trained=[(bad, bad)], what_to_look_for=bad
    )
    text = write_demo_page([section], tmp_path / "page.html", title=bad, after=[bad]).read_text()
    assert "<script" not in text
    Checker(text)


def test_an_empty_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one system"):
        write_demo_page([], tmp_path / "page.html", title="None")
