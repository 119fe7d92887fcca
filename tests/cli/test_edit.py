"""`unbraid edit`, src/unbraid/cli/edit.py."""

from pathlib import Path

from PIL import Image

from tests.commandline import CommandLine


def test_edit_writes_an_image_grid(
    unbraid: CommandLine, trained: Path, image_folder: Path, tmp_path: Path
) -> None:
    both = (image_folder / "a.png", image_folder / "b.png")
    edits = (
        *("--swap", "codes", "--swap", 1, "--set", "2=1.5", "--set", "codes=0,1,2"),
        *("--zero", 0, "--traverse", 1),
    )
    answer = unbraid("edit", trained, *both, *edits, "--out", tmp_path / "sheet.png", "--json")
    assert answer.json["rows"][:4] == ["images", "reconstructed", "swap codes", "swap 1"]
    assert answer.json["rows"][4:7] == ["set 2=1.5", "set codes=0,1,2", "zero 0"]
    assert answer.json["rows"][7:] == ["traverse 1: a.png", "traverse 1: b.png"]
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert min(sheet.size) > 64


def test_invalid_edits(unbraid: CommandLine, trained: Path, image_folder: Path, tmp_path: Path) -> None:
    one, out = image_folder / "a.png", ("--out", tmp_path / "sheet.png")
    assert "Nothing to edit" in unbraid("edit", trained, one, *out).sentence
    assert "--swap needs two images; got 1" in unbraid("edit", trained, one, "--swap", 0, *out).sentence
    assert "no strand 'salient'" in unbraid("edit", trained, one, "--zero", "salient", *out).sentence
    assert "its 3 values" in unbraid("edit", trained, one, "--set", "codes=1,2", *out).sentence
    assert "does not exist" in unbraid("edit", trained, tmp_path / "c.png", "--zero", 0, *out).sentence


def test_the_ending_chooses_the_image_format(
    unbraid: CommandLine, trained: Path, image_folder: Path, tmp_path: Path
) -> None:
    for name, format in (("sheet.JPG", "JPEG"), ("new/sheet.webp", "WEBP"), ("sheet.tif", "TIFF")):
        one = image_folder / "a.png"
        assert unbraid("edit", trained, one, "--zero", 0, "--out", tmp_path / name).code == 0
        with Image.open(tmp_path / name) as sheet:
            assert sheet.format == format
