"""Snippets on model cards run, src/unbraid/export/snippets.py."""

import re
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unbraid.export import FORMATS, export
from unbraid.runs.folder import Run


@pytest.mark.parametrize("kind", ["sprites", "tabular", "predicting"])
@pytest.mark.parametrize("format", FORMATS)
def test_it_runs(
    format: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if format == "onnx":
        pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    run: Run = request.getfixturevalue(kind)
    folder = export(run.folder, format, tmp_path / "out").folder
    hub: Any = types.ModuleType("huggingface_hub")
    hub.snapshot_download = lambda name: str(folder)  # as if it had been put there
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.chdir(folder)
    (snippet,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.S)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of TorchScript
        exec(compile(snippet, "README.md", "exec"), names)
    assert np.asarray(names["codes"]).shape == (1, 3 + 2 * (kind == "tabular"))
    assert ("decoded" in names) == (kind != "predicting")
