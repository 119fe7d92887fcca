"""Progress displays, src/unbraid/progress.py."""

import io
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from unbraid.progress import (
    STOPPING,
    Bar,
    Lines,
    RecentSpeed,
    Stopped,
    duration,
    progress,
    shown_terms,
    signals_deferred,
    signals_handled,
    stop_command,
    transient_bar,
)


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


def bar_line(width: int, terms: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a bar shows 20 seconds after its start, at 10 steps a second and a width."""
    now = [0.0]
    monkeypatch.setattr("unbraid.progress.time.monotonic", lambda: now[0])
    bar = Bar("factor-vae on dsprites", total=1000)
    bar._console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
    for second in range(1, 21):
        now[0] = float(second)
        bar.move(10 * second)
        bar._line()
    bar.show(200, terms)
    bar._console.print(bar._line())
    output = bar._console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_a_bar_shows_steps_speed_and_time_left_first_and_terms_where_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terms = {"loss": 123.4, "nll": 100.1, "kl": 12.25, "total_correlation": 1.5, "critic.loss": 0.693}
    shown = {width: bar_line(width, terms, monkeypatch) for width in (60, 80, 120)}
    for width, line in shown.items():
        assert line.count("\n") == 1 and len(line.rstrip("\n")) <= width
        assert "200/1000" in line and "10.0 steps/s" in line and "1 min 20 s left" in line
    assert "factor-vae on dsprites" in shown[80] and "loss" not in shown[80]
    assert "loss 123.4  nll 100.1" in shown[120] and "critic.loss" not in shown[120]


def test_a_bar_on_a_terminal_moves_between_reports() -> None:
    """Drawn by a terminal of 80 columns: steps advance although no terms are reported."""
    script = (
        "import time\nfrom unbraid.progress import Bar\nwith Bar('beta-vae on sprites', 100) as bar:\n"
        "    for step in range(1, 101):\n        bar.move(step)\n        time.sleep(0.015)\n"
    )
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": "80", "TERM": "xterm"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, encoding="utf-8"
    )
    counts = {int(count) for count in re.findall(r"(\d+)/100", done.stderr)}
    assert len(counts) >= 4 and 100 in counts, done.stderr


def test_speed_is_that_of_the_last_half_minute() -> None:
    speed = RecentSpeed()
    for second in range(100):
        speed.note(second if second < 50 else 50 + 10 * (second - 50), float(second))
    assert speed.per_second == 10.0
    assert RecentSpeed().per_second == 0.0


def test_terms_that_do_not_fit_are_left_out() -> None:
    assert shown_terms({"loss": 1.0, "kl": 2.0}, 6) == "loss 1"
    assert shown_terms({"loss": 1.0, "kl": 2.0}, 12) == "loss 1  kl 2"
    assert shown_terms({"loss": 1.0}, 3) == ""


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


def test_a_deferred_signal_arrives_once_after_the_block() -> None:
    done = []
    with pytest.raises(Stopped) as stopped, signals_handled(STOPPING, stop_command):
        with signals_deferred():
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            done.append("block")
        done.append("after")
    assert done == ["block"] and stopped.value.number == signal.SIGHUP


def test_a_deferred_signal_goes_before_an_error_of_the_block() -> None:
    with pytest.raises(Stopped), signals_handled(STOPPING, stop_command), signals_deferred():
        signal.raise_signal(signal.SIGTERM)
        raise RuntimeError("what an interrupted tracer says")


WORKER = """
import multiprocessing, os, signal, sys, time
from unbraid.progress import starting_workers

if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    with starting_workers():
        worker.start()
    before = worker.exitcode
    for _ in range(20):
        os.kill(worker.pid, signal.SIGINT)
        time.sleep(0.05)
    print(before, worker.exitcode, signal.pthread_sigmask(signal.SIG_BLOCK, []))
    worker.kill()
"""


def test_processes_that_are_started_as_workers_do_not_hear_interrupts(tmp_path: Path) -> None:
    """From their first moment: an interrupt while they import something would print a traceback."""
    (tmp_path / "starts.py").write_text(WORKER)
    done = subprocess.run([sys.executable, tmp_path / "starts.py"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("None None set()\n", "")
