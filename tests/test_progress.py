"""Progress displays, src/unbraid/progress.py."""

import pytest

from unbraid.progress import Bar, Lines, duration, progress, transient_bar


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.4, "3 s"), (59.9, "60 s"), (200.0, "3 min 20 s"), (7_260.0, "2 h 1 min")]
)
def test_durations_use_the_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_lines_show_the_first_and_the_last_report_and_few_between(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines("beta-vae on sprites", total=100) as lines:
        for step in (1, 2, 3, 100):
            lines.show(step, {"loss": 12.5})
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 2
    assert shown[0].startswith("beta-vae on sprites: 1/100 steps  loss 12.5") and shown[0].endswith("left")
    assert shown[1].startswith("beta-vae on sprites: 100/100 steps")


def test_a_bar_shows_terms_and_speed(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar("training", total=10) as bar:
        bar.show(10, {"kl": 3.0})
    assert "training" in capsys.readouterr().err


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("training", 10, quiet=True) as silence:
        silence.show(10, {"kl": 3.0})
    assert capsys.readouterr() == ("", "")


def test_a_transient_bar_shows_nothing_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with transient_bar("reading", 10) as advance:
        advance(5)
    with transient_bar("reading a file of unknown length", None, 3) as advance:
        advance(5)
    assert capsys.readouterr() == ("", "")
