"""`--out` is checked before any work, src/unbraid/cli/output.py."""

import os
from pathlib import Path

import pytest

from tests.commandline import CommandLine

COMMANDS = {  # with an output file, its right ending, and the endings in the sentence
    "encode": (("encode", "run", "images"), ".npz", ".npz, .npy or .csv"),
    "edit": (("edit", "run", "a.png", "--zero", 0), ".png", ".png, .jpg, .jpeg, .webp, .tif, .tiff or .bmp"),
    "report": (("report", "run"), ".html", ".html or .htm"),
    "explore": (("explore", "run", "--no-open"), ".html", ".html or .htm"),
}
files = pytest.mark.parametrize(("words", "ending", "endings"), COMMANDS.values(), ids=COMMANDS)
FOLDERS = {  # the runs and recipes do not exist: the output is checked first
    "study": ("study", "no/recipe"),
    "export": ("export", "run", "--format", "onnx"),
    "demo": ("demo",),
}
folders = pytest.mark.parametrize("words", FOLDERS.values(), ids=FOLDERS)


@files
def test_other_endings_are_refused_before_any_work(
    unbraid: CommandLine, tmp_path: Path, words: tuple[object, ...], ending: str, endings: str
) -> None:
    for name in ("x.xyz", "x", ending, f"x{ending}.zip"):
        sentence = unbraid(*words, "--out", tmp_path / name).sentence
        assert sentence == f"--out {tmp_path / name} must end in {endings}."


@files
def test_places_that_cannot_be_written_are_refused_before_any_work(
    unbraid: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[object, ...],
    ending: str,
    endings: str,
) -> None:
    (tmp_path / f"folder{ending}").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / f"loop{ending}").symlink_to(f"loop{ending}")
    os.mkfifo(tmp_path / f"pipe{ending}")
    for name, said in (
        (f"folder{ending}", "is a folder. Choose a file in it"),
        (f"file/x{ending}", "file is a file. Choose another folder."),
        (f"pipe{ending}", "is a device, not a file"),
        (f"loop{ending}", "is not possible: Too many levels of symbolic links"),
        (f"{'a' * 300}{ending}", "is not possible: File name too long"),
        (f"{'a/' * 2500}x{ending}", "is not possible: File name too long"),
    ):
        assert said in unbraid(*words, "--out", tmp_path / name).sentence
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "cannot be written to" in unbraid(*words, "--out", tmp_path / f"new/x{ending}").sentence


@folders
def test_folders_are_checked_too(
    unbraid: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[object, ...]
) -> None:
    (tmp_path / "file").touch()
    assert "is a file. Choose a folder." in unbraid(*words, "--out", tmp_path / "file").sentence
    assert "Choose another folder." in unbraid(*words, "--out", tmp_path / "file/x").sentence
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "cannot be written to" in unbraid(*words, "--out", tmp_path / "new/x").sentence
