"""Progress displays, src/unbraid/progress.py."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from unbraid.progress import (
    STOPPING,
    Bar,
    Lines,
    Stopped,
    duration,
    progress,
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
