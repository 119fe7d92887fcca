"""Atomic writes, JSON, safetensors and locks, src/unbraid/files.py."""

import os
import re
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from unbraid.files import (
    Whole,
    acquire_lock,
    append_line,
    locked,
    read_json,
    read_tensors,
    remove_partial_files,
    require_schema,
    sha256_of,
    sync_file,
    write_atomically,
    write_json,
    write_tensors,
)


def test_equal_tensors_are_written_as_equal_bytes(tmp_path: Path) -> None:
    tensors = {"b": torch.randn(3, 2).T, "a": torch.arange(4)}
    for name in ("one", "two"):
        write_tensors(tmp_path / name, tensors)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert_close(read_tensors(tmp_path / "one"), tensors)


def test_file_names_that_are_no_utf8_survive_json(tmp_path: Path) -> None:
    write_json(tmp_path / "names.json", {"path": "bilder-\udcff", "β": 1})
    assert read_json(tmp_path / "names.json") == {"path": "bilder-\udcff", "β": 1}
    assert '"β"'.encode() in (tmp_path / "names.json").read_bytes()


def test_damaged_tensors_are_refused(tmp_path: Path) -> None:
    write_tensors(tmp_path / "w.safetensors", {"a": torch.ones(100)})
    whole = (tmp_path / "w.safetensors").read_bytes()
    (tmp_path / "w.safetensors").write_bytes(whole[:50])
    with pytest.raises(ValueError, match="not a complete safetensors file"):
        read_tensors(tmp_path / "w.safetensors")


def test_one_flipped_bit_is_found(tmp_path: Path) -> None:
    """In the length, the header, the hash or the tensors, by the hash in the file or by that of the whole file."""
    path = tmp_path / "w.safetensors"
    write_tensors(path, {"a": torch.ones(3), "b": torch.zeros(2, 2)})
    whole, sha256 = path.read_bytes(), sha256_of(path)
    read_tensors(path), read_tensors(path, sha256=sha256)
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << position % 8
        path.write_bytes(flipped)
        for expected in (None, sha256):
            with pytest.raises(
                ValueError, match=r"w\.safetensors is (damaged|not a complete safetensors file)"
            ):
                read_tensors(path, sha256=expected)


SCHEMA = {
    "n": Whole(1, 5),
    "name": (str, None),
    "rows": [float],
    "note?": re.compile("a+"),
    "t": {...: bool},
}
RIGHT = {"n": 5, "name": None, "rows": [1, 2.5], "t": {"x": True}, "more": [{}]}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n": 6}, "n must be a whole number of at least 1 and at most 5, and is 6"),
        ({"n": True}, "n must be .*, and is True"),
        ({"n": 2.0}, "n must be .*, and is 2.0"),
        ({"name": []}, "name must be a text or null, and is a list"),
        ({"rows": [1, "2"]}, r"rows\[1\] must be a finite number, and is '2'"),
        ({"rows": [10**400]}, r"rows\[0\] must be a finite number"),
        ({"rows": {}}, "rows must be a list, and is an object"),
        ({"note": "b"}, "note must be a text of the form a., and is 'b'"),
        ({"t": {"y": 1}}, r"t\.y must be true or false, and is 1"),
    ],
)
def test_values_of_another_form_are_named(change: dict[str, object], sentence: str) -> None:
    require_schema(RIGHT, SCHEMA, "f.json")
    require_schema(RIGHT | {"note": "aa"}, SCHEMA, "f.json")
    with pytest.raises(ValueError, match=rf"^In f\.json, {sentence}.*\. Restore it from a copy\.$"):
        require_schema(RIGHT | change, SCHEMA, "f.json")


def test_a_missing_key_and_a_folder_in_place_of_a_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^f\.json lacks n\. Try again\.$"):
        require_schema({}, SCHEMA, "f.json", remedy="Try again.")
    with pytest.raises(ValueError, match=r"is not a file\. Restore it"):
        read_json(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"missing\.json does not exist\. Restore it"):
        read_json(tmp_path / "missing.json")


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """A real failing write: the process may not write files above 1,000 bytes."""
    target = tmp_path / "checkpoint.safetensors"
    target.write_bytes(b"the last good checkpoint")
    script = (
        "from pathlib import Path; from unbraid.files import write_atomically\n"
        f"write_atomically(Path({str(target)!r}), b'x' * 100_000)"
    )

    def small_files_only() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))

    done = subprocess.run(
        [sys.executable, "-B", "-c", script], preexec_fn=small_files_only, capture_output=True, text=True
    )
    assert done.returncode != 0 and "could not be written (File too large)" in done.stderr
    assert target.read_bytes() == b"the last good checkpoint"
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]


def test_a_full_disk_keeps_the_earlier_lines(tmp_path: Path) -> None:
    append_line(tmp_path / "lines", "one")
    append_line(tmp_path / "lines", "β")
    sync_file(tmp_path / "lines")
    assert (tmp_path / "lines").read_text("utf-8") == "one\nβ\n"
    with pytest.raises(
        OSError, match=r"/dev/full could not be extended \(No space left on device\).*Free some"
    ):
        append_line(Path("/dev/full"), "two")


def test_a_folder_that_cannot_be_locked_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"file cannot be locked \([A-Z].*\)\. Choose an existing folder"):
        acquire_lock(tmp_path / "file" / ".lock", message="taken")


def test_a_write_replaces_the_old_content(tmp_path: Path) -> None:
    write_atomically(tmp_path / "f", b"old")
    write_atomically(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"new"


def test_json_is_indented_and_keeps_its_order(tmp_path: Path) -> None:
    write_json(tmp_path / "f.json", {"β": [1], "a": None})
    assert (tmp_path / "f.json").read_text().splitlines()[1].startswith('  "β"')
    assert read_json(tmp_path / "f.json") == {"β": [1], "a": None}


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[NaN]", b"[Infinity]"])
def test_damaged_json_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"f\.json is not readable as JSON .*Restore it"):
        read_json(tmp_path / "f.json")


def test_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(ValueError, match=r"f\.json is nested too deeply\. Restore it"):
        read_json(tmp_path / "f.json")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_lacks_are_not_written(number: float, tmp_path: Path) -> None:
    write_json(tmp_path / "f.json", [1])
    with pytest.raises(ValueError, match="has a NaN or infinite number"):
        write_json(tmp_path / "f.json", [number])
    assert read_json(tmp_path / "f.json") == [1]


def test_the_folder_is_synced_after_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power failure after `write_atomically` has returned loses nothing: content, rename and folder are on disk."""
    calls = []
    fsync, replace = os.fsync, os.replace

    def recorded_fsync(handle: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "content")
        fsync(handle)

    def recorded_replace(source: Path, target: Path) -> None:
        calls.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", recorded_fsync)
    monkeypatch.setattr(os, "replace", recorded_replace)
    write_atomically(tmp_path / "f", b"new")
    assert calls == ["content", "rename", "folder"]


def test_two_writers_of_one_file_do_not_share_a_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two writes of the first writer's file, the second writer writes its own."""
    replace = os.replace

    def slow_replace(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", replace)
        write_atomically(tmp_path / "f", b"second")
        replace(source, target)

    monkeypatch.setattr(os, "replace", slow_replace)
    write_atomically(tmp_path / "f", b"first")
    assert (tmp_path / "f").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_files_left_half_written_are_removed(tmp_path: Path) -> None:
    for name in (".run.json.12-ab.part", "run.json", "data.part"):
        (tmp_path / name).touch()
    remove_partial_files(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.part", "run.json"]


def test_a_lock_excludes_a_second_holder_until_it_is_released(tmp_path: Path) -> None:
    first = acquire_lock(tmp_path / ".lock", message="taken")
    with pytest.raises(ValueError, match="taken"), locked(tmp_path / ".lock", message="taken"):
        pass
    first.release()
    with locked(tmp_path / ".lock", message="taken"):
        pass
