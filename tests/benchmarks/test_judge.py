"""Each judge of the fault harness can fail, benchmarks/faults/judge.py."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults.judge import (
    MARK,
    MAX_MEGABYTES,
    DidNotSurvive,
    Kept,
    check_json,
    check_no_code_ran,
    check_same,
    fault_of,
    is_json,
)
from benchmarks.faults.processes import Ended


def ended(code: int = 0, out: str = "", err: str = "", words: tuple[str, ...] = (), **other: Any) -> Ended:
    return Ended(words, code, out, err, 1.0, **other)


FAILED_RUN = (
    "1 of 1: unbraid train vae\n  failed: {}: There is no such device.\nunbraid: 1 of 1 runs failed:\n"
)


@pytest.mark.parametrize(
    "end",
    [
        ended(out="Done."),
        ended(2, err="unbraid: There is no run."),
        ended(1, err=FAILED_RUN.format("ValueError"), words=("study", "recipe.py")),
        ended(out='{"score": 1.0}', words=("evaluate", "--json")),
    ],
)
def test_a_good_end_survives(end: Ended) -> None:
    assert fault_of(end) is None


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (ended(1, err="Traceback (most recent call last):\n  …"), "Traceback"),
        (ended(0, out="Traceback (most recent call last):\n  …"), "Traceback"),
        (ended(1, err="unbraid: Internal error in Unbraid, please report it."), "Internal error"),
        (ended(2, err="unbraid: [Errno 30] Read-only file system"), "Errno"),
        (ended(-11), "died of SIGSEGV"),
        (ended(-9, timed_out=True), "did not end within its limit"),
        (ended(1, err="unbraid: no"), "ended with code 1, not 0 or 2"),
        (ended(2), "without a word"),
        (ended(1, err=FAILED_RUN.format("KeyError"), words=("study", "recipe.py")), "failed with KeyError"),
        (ended(1, err=FAILED_RUN.format("ValueError"), words=("train", "vae")), "ended with code 1"),
        (ended(peak_megabytes=MAX_MEGABYTES + 1), "MB of memory"),
        (ended(out='{"score": NaN}', words=("evaluate", "--json")), "not valid JSON"),
    ],
)
def test_a_bad_end_is_found(end: Ended, reason: str) -> None:
    found = fault_of(end)
    assert found is not None and reason in found


def delete(path: Path) -> None:
    path.unlink()


def change(path: Path) -> None:
    path.write_text("yours")


@pytest.mark.parametrize(("damage", "word"), [(delete, "lost"), (change, "changed")])
def test_a_lost_or_changed_file_is_found(tmp_path: Path, damage: Callable[[Path], None], word: str) -> None:
    path = tmp_path / "run" / "notes.txt"
    path.parent.mkdir()
    path.write_text("mine")
    kept = Kept.of(tmp_path)
    (tmp_path / "new.txt").write_text("new")  # nobody minds
    kept.check()
    damage(path)
    with pytest.raises(DidNotSurvive, match=f"{word} the file run/notes.txt"):
        kept.check(["run/report.html"])
    kept.check(["run/"])


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1', "[" * 100_000, '{"a": Infinity}', ""])
def test_invalid_json_is_found(tmp_path: Path, text: str) -> None:
    assert not is_json(text)
    path = tmp_path / "scores.json"
    path.write_text("{}")
    check_json(tmp_path)
    path.write_text(text)
    with pytest.raises(DidNotSurvive, match=r"scores\.json, which is not valid JSON"):
        check_json(tmp_path)
    check_json(tmp_path, Kept.of(tmp_path))  # it was like that before


def test_lines_of_json_are_judged_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"step": 1}\n{"step": 2}\n')
    check_json(tmp_path)
    path.write_text('{"step": 1}\n{"step": \n')
    with pytest.raises(DidNotSurvive):
        check_json(tmp_path)


def test_code_that_ran_is_found(tmp_path: Path) -> None:
    check_no_code_ran(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / MARK).touch()
    with pytest.raises(DidNotSurvive, match=f"it left here/{MARK}"):
        check_no_code_ran(tmp_path)


def test_another_result_is_found() -> None:
    check_same("the table", {"a": 1}, {"a": 1})
    with pytest.raises(DidNotSurvive, match="the table differs from that of an undisturbed command: b, c"):
        check_same("the table", {"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4})
