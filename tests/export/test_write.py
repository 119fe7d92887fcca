"""Exports from run to folder, src/unbraid/export/write.py."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unbraid
from unbraid.export import FORMATS, export, torchscript
from unbraid.export.bundle import ExportBundle
from unbraid.files import locked
from unbraid.nn import MLPDecoder, MLPEncoder
from unbraid.runs.folder import Run


def test_files_are_written(sprites: Run, tmp_path: Path) -> None:
    found = unbraid.export(sprites.folder, "torchscript", tmp_path / "a" / "b")
    assert found.folder == tmp_path / "a" / "b" and found.difference < 1e-6
    assert {path.name for path in found.folder.iterdir()} == set(found.files)
    assert set(found.files) == {"README.md", "config.json", "encoder.pt", "decoder.pt"}
    assert not [path for path in found.folder.parent.iterdir() if path.name.startswith(".")]


def test_an_earlier_export_is_replaced(sprites: Run, tmp_path: Path) -> None:
    export(sprites.folder, "torchscript", tmp_path / "out")
    export(sprites.folder, "safetensors", tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"README.md", "config.json", "model.safetensors"}


def test_an_export_that_was_killed_before_its_first_file_is_replaced(sprites: Run, tmp_path: Path) -> None:
    partial = tmp_path / "out" / ".config.json.123-0a0b0c0d.part"
    partial.parent.mkdir()
    partial.write_bytes(b"{")
    export(sprites.folder, "safetensors", tmp_path / "out")
    assert not partial.exists() and (tmp_path / "out" / "config.json").exists()


def test_other_files_are_kept(sprites: Run, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(ValueError, match="is not empty and is not an export"):
        export(sprites.folder, "safetensors", tmp_path)
    with pytest.raises(ValueError, match="is a file"):
        export(sprites.folder, "safetensors", tmp_path / "config.json")


def test_files_that_differ_are_deleted(sprites: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(bundle: ExportBundle, folder: Path) -> None:
        torchscript.write(bundle, folder)
        with torch.no_grad():  # after the file was written
            next(bundle.model.method.encoder.parameters()).add_(0.1)  # type: ignore[union-attr]

    form = FORMATS["torchscript"]._replace(write=moved)
    monkeypatch.setitem(FORMATS, "torchscript", form)
    with pytest.raises(ValueError, match="differs from the model"):
        export(sprites.folder, "torchscript", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_two_exports_at_once_are_not_mixed(sprites: Run, tmp_path: Path) -> None:
    """And what a killed export has left half-written is gone after the next."""
    out = tmp_path / "out"
    out.mkdir()
    with (
        locked(tmp_path / ".out.lock", message="mine"),
        pytest.raises(ValueError, match="Another process is exp"),
    ):
        export(sprites.folder, "safetensors", out)
    (out / ".model.safetensors.1-a.part").touch()
    (out / "config.json").write_text(json.dumps({"library": "unbraid", "incomplete": True}))
    export(sprites.folder, "safetensors", out)
    assert {path.name for path in out.iterdir()} == {"README.md", "config.json", "model.safetensors"}
    assert not (tmp_path / ".out.lock").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_whose_name_is_no_utf8(format: str, sprites: Run, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"run \xff")
    try:
        shutil.copytree(sprites.folder, folder)
    except OSError:
        pytest.skip("this file system has no such names")
    found = export(folder, format)
    assert found.difference < 1e-5 and {path.name for path in found.folder.iterdir()} == set(found.files)
    assert (found.folder / "README.md").read_text(encoding="utf-8")


def test_what_a_killed_export_left_beside_the_folder_is_gone_after_the_next(
    sprites: Run, tmp_path: Path
) -> None:
    script = (
        "import os, sys; from unbraid.export import FORMATS, export\n"
        "write = FORMATS['safetensors'].write\n"
        "killed = lambda *given: (write(*given), os.kill(os.getpid(), 9))\n"
        "FORMATS['safetensors'] = FORMATS['safetensors']._replace(write=killed)\n"
        "export(sys.argv[1], 'safetensors', sys.argv[2])"
    )
    command = [sys.executable, "-c", script, sprites.folder, tmp_path / "out"]
    assert subprocess.run(command).returncode == -9
    assert any(path.is_dir() for path in tmp_path.iterdir())
    export(sprites.folder, "safetensors", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_bad_input(sprites: Run, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="did you mean onnx"):
        export(sprites.folder, "onx")
    with pytest.raises(FileNotFoundError, match="not a run folder"):
        export(tmp_path, "safetensors")
    (tmp_path / "run.json").write_text((sprites.folder / "run.json").read_text())
    with pytest.raises(FileNotFoundError, match="unfinished"):
        export(tmp_path, "safetensors")


class MyEncoder(MLPEncoder):
    """A network from outside the package."""


def test_custom_networks(tmp_path: Path) -> None:
    torch.manual_seed(0)
    dataset = unbraid.data.from_arrays(np.random.default_rng(0).random((16, 6)), name="rows")
    normal = unbraid.objectives.Normal()
    method = unbraid.methods.VAE(MyEncoder((6,), 2), MLPDecoder(2, (6,)), likelihood=normal)
    run = unbraid.train(
        method, dataset, out=tmp_path / "run", steps=1, batch_size=4, device="cpu", quiet=True
    )
    with pytest.raises(ValueError, match=r"your own code, tests\.export\.test_write:MyEncoder"):
        export(run.folder, "safetensors")
    for format in ("torchscript", "safetensors"):
        found = export(run.folder, format, tmp_path / format, encoder=MyEncoder((6,), 2))
        assert found.difference < 1e-6
    assert "it was trained from Python" in (tmp_path / "safetensors" / "README.md").read_text()


@pytest.mark.parametrize("number", range(1, 5))
def test_an_interrupted_export_is_no_model_and_can_be_repeated(
    sprites: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Over an earlier export, interrupted before one of the renames into the folder."""
    out = tmp_path / "out"
    export(sprites.folder, "safetensors", out)
    names, renamed = {path.name for path in out.iterdir()}, list[str]()

    def interrupting(rename: Callable[..., None]) -> Callable[..., None]:
        def call(source: Any, target: Any, **options: Any) -> None:
            if Path(target).parent == out:
                renamed.append(Path(target).name)
                if len(renamed) == number:
                    raise KeyboardInterrupt
            rename(source, target, **options)

        return call

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", interrupting(os.rename))
        patched.setattr(os, "replace", interrupting(os.replace))
        with pytest.raises(KeyboardInterrupt):
            export(sprites.folder, "safetensors", out)
    if number > 1:
        with pytest.raises(ValueError, match=r"config\.json lacks format"):
            unbraid.load(out)
    export(sprites.folder, "safetensors", out)
    assert {path.name for path in out.iterdir() if not path.name.startswith(".")} == names
    unbraid.load(out)
