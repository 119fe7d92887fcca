"""Signals and memory of the training process, src/unbraid/training/process.py."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from unbraid.progress import Stopped
from unbraid.training import process
from unbraid.training.process import deterministic_kernels, keep_freed_memory, stop_requested, versions

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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_becomes_an_answer_and_the_old_handler_comes_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with stop_requested() as stop:
        assert not stop()
        os.kill(os.getpid(), number)
        assert stop()
    assert signal.getsignal(number) is before


def test_the_signal_is_kept_with_the_reason() -> None:
    with pytest.raises(Stopped, match="at step 3") as stopped, stop_requested():
        signal.raise_signal(signal.SIGTERM)
        raise Stopped("Stopped at step 3.")
    assert stopped.value.number == signal.SIGTERM


def test_a_second_signal_ends_the_training_at_once() -> None:
    with (
        pytest.raises(Stopped, match="at once: continue from the last checkpoint") as stopped,
        stop_requested(),
    ):
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("the second signal was ignored")
    assert stopped.value.number == signal.SIGTERM


def test_a_hangup_that_nohup_ignores_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_requested() as stop:
            signal.raise_signal(signal.SIGHUP)
            assert not stop()
    finally:
        signal.signal(signal.SIGHUP, before)


CUDA = torch.device("cuda")  # a name only


def test_deterministic_kernels_are_used_within_and_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    with deterministic_kernels(True, CUDA):
        assert torch.are_deterministic_algorithms_enabled() and not torch.backends.cudnn.benchmark
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert not torch.are_deterministic_algorithms_enabled() and torch.backends.cudnn.benchmark
    for enabled, device in ((False, CUDA), (True, torch.device("cpu"))):
        with deterministic_kernels(enabled, device):
            assert not torch.are_deterministic_algorithms_enabled()


def test_a_kernel_without_a_deterministic_form_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    with (
        pytest.raises(
            ValueError, match=r"cannot be deterministic: x does not have .*\. Remove --deterministic"
        ),
        deterministic_kernels(True, CUDA),
    ):
        raise RuntimeError(
            "x does not have a deterministic implementation, but you set it. You can file an issue"
        )
    with pytest.raises(RuntimeError, match="out of memory"), deterministic_kernels(True, CUDA):
        raise RuntimeError("out of memory")
    assert not torch.are_deterministic_algorithms_enabled()


def test_matrix_products_cannot_become_deterministic_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    needed = pytest.raises(ValueError, match="set the environment variable CUBLAS_WORKSPACE_CONFIG")
    with needed, deterministic_kernels(True, CUDA):
        pass


def test_outside_the_main_thread_nobody_asks() -> None:
    answers = []

    def wait() -> None:
        with stop_requested() as stop:
            answers.append(stop())

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert answers == [False]


def test_versions() -> None:
    found = versions("cpu")
    assert found["torch"] == torch.__version__ and found["device"].startswith("cpu (")
    assert {"unbraid", "python", "numpy", "platform"} <= found.keys()


def test_the_commit_is_that_of_the_source_and_no_other_repository_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a checkout, with a mark for changed files; nothing for a package within a repository that does not track it;
    and what the environment says of a copy."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def found() -> str:
        process.commit.cache_clear()
        return process.commit()

    monkeypatch.delenv(process.COMMIT, raising=False)
    monkeypatch.setattr(process.importlib.metadata, "distribution", lambda name: Distribution())
    source = tmp_path / "src" / "unbraid"
    (source / "training").mkdir(parents=True)
    (source / "__init__.py").write_text("")
    monkeypatch.setattr(process, "__file__", str(source / "training" / "process.py"))
    assert found() == ""
    git("init", "-q")
    assert found() == ""  # not tracked
    git("add", ".")
    git("commit", "-qm", "first")
    git("tag", "v1")
    assert found() == git("rev-parse", "HEAD") and len(found()) == 40
    (source / "__init__.py").write_text("changed = True\n")
    assert found() == git("rev-parse", "HEAD") + "-dirty"
    assert versions("cpu")["commit"] == found()
    monkeypatch.setattr(Distribution, "url", '{"url": "x", "vcs_info": {"vcs": "git", "commit_id": "abc"}}')
    assert found() == "abc"
    monkeypatch.setenv(process.COMMIT, "stated")
    assert found() == "stated"
    process.commit.cache_clear()


class Distribution:
    """An installed package."""

    url: str | None = None

    def read_text(self, name: str) -> str | None:
        return self.url
