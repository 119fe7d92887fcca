"""Atomic writes, JSON and safetensors, src/unbraid/runs/folder.py."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from unbraid.runs.folder import read_json, read_tensors, write_atomically, write_json, write_tensors


def test_equal_tensors_are_written_as_equal_bytes(tmp_path: Path) -> None:
    tensors = {"b": torch.randn(3, 2).T, "a": torch.arange(4)}
    for name in ("one", "two"):
        write_tensors(tmp_path / name, tensors)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert_close(read_tensors(tmp_path / "one"), tensors)


def test_damaged_tensors_are_refused(tmp_path: Path) -> None:
    write_tensors(tmp_path / "w.safetensors", {"a": torch.ones(100)})
    whole = (tmp_path / "w.safetensors").read_bytes()
    (tmp_path / "w.safetensors").write_bytes(whole[:50])
    with pytest.raises(ValueError, match="not a complete safetensors file"):
        read_tensors(tmp_path / "w.safetensors")


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """A real failing write: the process may not write files above 1,000 bytes."""
    target = tmp_path / "checkpoint.safetensors"
    target.write_bytes(b"the last good checkpoint")
    script = (
        "from pathlib import Path; from unbraid.runs.folder import write_atomically\n"
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


def test_a_write_replaces_the_old_content(tmp_path: Path) -> None:
    write_atomically(tmp_path / "f", b"old")
    write_atomically(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"new"


def test_json_is_indented_and_keeps_its_order(tmp_path: Path) -> None:
    write_json(tmp_path / "f.json", {"β": [1], "a": None})
    assert (tmp_path / "f.json").read_text().splitlines()[1].startswith('  "β"')
    assert read_json(tmp_path / "f.json") == {"β": [1], "a": None}


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe"])
def test_damaged_json_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "f.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"f\.json is not readable as JSON .*Restore it"):
        read_json(tmp_path / "f.json")
