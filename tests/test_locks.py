"""One at a time in a folder, src/unbraid/locks.py."""

import multiprocessing
from pathlib import Path

import pytest

from unbraid import locks
from unbraid.locks import alone, at_work


def test_two_are_not_at_work_in_one_folder(tmp_path: Path) -> None:
    with alone(tmp_path / "study"):
        refused = pytest.raises(ValueError, match=r"Another process is at work in .*study: wait")
        with refused, alone(tmp_path / "study"):
            pass
        with alone(tmp_path / "other"):
            pass
    with alone(tmp_path / "study"):
        pass


def test_workers_of_before_must_have_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    left_over = at_work(tmp_path)
    with pytest.raises(ValueError, match="Workers of an earlier study are still at work"), alone(tmp_path):
        pass
    left_over.close()
    with alone(tmp_path):
        both = at_work(tmp_path), at_work(tmp_path)  # workers do not exclude each other
        for file in both:
            file.close()


def hold(folder: Path) -> None:
    at_work(folder)
    multiprocessing.current_process().kill()


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=hold, args=(tmp_path,))
    process.start()
    process.join()
    with alone(tmp_path):
        pass
