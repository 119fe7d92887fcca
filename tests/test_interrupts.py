"""Stopping between two steps, src/unbraid/interrupts.py."""

import os
import signal
import threading

import pytest

from unbraid.interrupts import asked_to_stop


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_becomes_an_answer_and_the_old_handler_comes_back(kind: signal.Signals) -> None:
    before = signal.getsignal(kind)
    with asked_to_stop() as asked:
        assert not asked()
        os.kill(os.getpid(), kind)
        assert asked()
    assert signal.getsignal(kind) is before


def test_outside_the_main_thread_nobody_asks() -> None:
    answers = []

    def wait() -> None:
        with asked_to_stop() as asked:
            answers.append(asked())

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert answers == [False]
