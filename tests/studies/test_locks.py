"""One study per folder, src/unbraid/studies/locks.py."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from unbraid.studies import locks
from unbraid.studies.locks import exclusive_lock, worker_lock


def test_two_studies_cannot_use_one_folder(tmp_path: Path) -> None:
    with exclusive_lock(tmp_path / "study"):
        refused = pytest.raises(ValueError, match=r"Another process is running a study in .*study\. Wait")
        with refused, exclusive_lock(tmp_path / "study"):
            pass
        with exclusive_lock(tmp_path / "other"):
            pass
    with exclusive_lock(tmp_path / "study"):
        pass


def test_workers_of_an_earlier_study_must_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    left_over = worker_lock(tmp_path, 0)
    with (
        pytest.raises(ValueError, match="Workers of an earlier study are still running"),
        exclusive_lock(tmp_path),
    ):
        pass
    left_over.release()
    with exclusive_lock(tmp_path):
        both = worker_lock(tmp_path, 0), worker_lock(tmp_path, 1)  # workers do not exclude each other
        for lock in both:
            lock.release()


def hold(folder: Path) -> None:
    lock = worker_lock(folder, 0)
    with exclusive_lock(folder / "study"):
        assert lock.is_locked
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_lock_is_released_when_its_process_dies(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=hold, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == -9 and (tmp_path / ".worker-0.lock").exists()
    for folder in (tmp_path, tmp_path / "study"):
        with exclusive_lock(folder):
            pass
