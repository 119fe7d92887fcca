"""Signals and memory of the training process, src/unbraid/training/process.py."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from unbraid.training.process import keep_freed_memory, stop_requested

FAULTS = """
import resource, sys
import torch
from unbraid.training.process import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()


def touch():
    activations = [torch.ones(2_000_000) for _ in range(6)]  # 8 MB each
    del activations


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def in_twenty():
    before = faults()
    for _ in range(20):
        touch()
    return faults() - before


print(min(in_twenty() for _ in range(4)))  # once more a little may be taken, where pieces lie awkwardly
"""


def page_faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not keep_freed_memory(), reason="this C library has no mallopt")
def test_memory_that_was_freed_is_used_again_without_asking_the_system() -> None:
    kept, as_it_is = page_faults("keep"), page_faults("as it is")
    assert kept < 200 and kept <= as_it_is + 50  # how much is saved depends on the system's pages


def test_a_c_library_without_the_option_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    assert not keep_freed_memory()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_becomes_an_answer_and_the_old_handler_comes_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with stop_requested() as stop:
        assert not stop()
        os.kill(os.getpid(), number)
        assert stop()
    assert signal.getsignal(number) is before


def test_outside_the_main_thread_nobody_asks() -> None:
    answers = []

    def wait() -> None:
        with stop_requested() as stop:
            answers.append(stop())

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert answers == [False]
