"""`unbraid export`, src/unbraid/cli/export.py."""

from pathlib import Path

from tests.commandline import CommandLine


def test_a_run_is_exported(unbraid: CommandLine, trained: Path, tmp_path: Path) -> None:
    answer = unbraid("export", trained, "--format", "torchscript", "--json")
    assert answer.code == 0 and answer.json["folder"] == str(trained / "export-torchscript")
    assert answer.json["difference"] < 1e-5 and "encoder.pt" in answer.json["files"]
    plain = unbraid("export", trained, "--format", "safetensors", "--out", tmp_path / "out")
    assert plain.code == 0 and f"Written to {tmp_path / 'out'}" in plain.out


def test_runs_and_formats_that_cannot_be_exported(
    unbraid: CommandLine, trained: Path, tmp_path: Path
) -> None:
    assert (
        "one of last, best"
        in unbraid("export", trained, "--format", "safetensors", "--weights", "model").sentence
    )
    (trained / "finished.json").unlink()
    for words, error in (
        ((trained, "--format", "onx"), "did you mean onnx"),
        ((trained, "--format", "safetensors"), "unfinished"),
        ((tmp_path, "--format", "safetensors"), "not a run folder"),
    ):
        assert error in unbraid("export", *words).sentence
