"""Opening datasets by name or path, src/unbraid/data/registry.py."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.testing import assert_close

from unbraid.data.registry import DATASETS, open_dataset
from unbraid.data.sprites import sprites


def test_a_name_opens_its_dataset_with_its_options() -> None:
    dataset = open_dataset("sprites", image_size=32, antialias=False)
    rows = torch.tensor([0, 400_000])
    assert dataset.shape == (1, 32, 32)
    assert_close(dataset.observe(rows), sprites(image_size=32, antialias=False).observe(rows))


def test_what_was_opened_can_be_opened_again() -> None:
    origin = open_dataset("rooms", image_size=16).origin
    again = open_dataset(origin["name"], **origin["options"])
    assert again.shape == (3, 16, 16)


def test_every_name_has_one_line() -> None:
    assert {"sprites", "dsprites", "rooms", "shapes3d", "mpi3d", "digits", "colored-mnist"} <= set(DATASETS)
    for entry in DATASETS.values():
        assert 20 < len(entry.summary) < 110
        assert entry.summary.endswith(".")


def test_paths_open_folders_and_npz_files(tmp_path: Path) -> None:
    Image.new("L", (8, 8), 9).save(tmp_path / "a.png")
    assert open_dataset(str(tmp_path), image_size=8).shape == (1, 8, 8)
    np.savez(tmp_path / "mine.npz", images=np.zeros((3, 8, 8), np.uint8))
    dataset = open_dataset(str(tmp_path / "mine.npz"))
    assert len(dataset) == 3
    assert open_dataset(dataset.origin["name"]).shape == (1, 8, 8)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("dsprite", {}, "no dataset 'dsprite'; did you mean dsprites"),
        (
            "qqq",
            {},
            r"no dataset 'qqq'\. The choices are sprites, dsprites, rooms, shapes3d, mpi3d, .*, a folder",
        ),
        ("sprites", {"sise": 32}, "no option sise; its options are image_size, antialias"),
        (
            "dsprites",
            {"image_size": 32},
            "no option image_size; its options are correlate, correlation_sigma, train_size",
        ),
        (
            "mpi3d",
            {"variant": "real", "image_size": 1},
            "no option image_size; its options are variant, split, color_seed",
        ),
    ],
)
def test_mistakes_get_one_sentence(name: str, options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        open_dataset(name, **options)


def test_missing_paths(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        open_dataset(str(tmp_path / "missing.npz"))
    with pytest.raises(ValueError, match=r"There is no folder .*missing: give a folder of images"):
        open_dataset(str(tmp_path / "missing"))


def test_the_registry_imports_no_heavy_readers() -> None:
    code = "import sys, unbraid.data.registry as c; print([m for m in ('h5py', 'PIL', 'rich') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def folders(tmp_path: Path) -> tuple[str, str]:
    for name, count in (("caps", 3), ("faces", 5)):
        (tmp_path / name).mkdir()
        for index in range(count):
            Image.new("L", (20, 20), 10 * index).save(tmp_path / name / f"{index}.png")
    return str(tmp_path / "caps"), str(tmp_path / "faces")


def test_a_background_is_opened_with_the_options_it_shares(tmp_path: Path) -> None:
    target, background = folders(tmp_path)
    data = open_dataset(target, background=background, image_size=16)
    assert data.background is not None and data.background.shape == data.shape == (1, 16, 16)
    assert (len(data), len(data.background)) == (3, 5)
    assert data.origin == {"name": target, "options": {"image_size": 16, "background": background}}
    again = open_dataset(data.origin["name"], **data.origin["options"])
    assert again.description() == data.description()


def test_rows_of_target_and_background_are_on_one_scale_or_refused(tmp_path: Path) -> None:
    csv, npz = str(tmp_path / "target.csv"), str(tmp_path / "rows.npz")
    Path(csv).write_text("a,b\n1,10\n3,30\n")
    np.savez(npz, rows=np.array([[1.0, 20.0], [2.0, 20.0]]))
    with pytest.raises(ValueError, match=r"same means and.*both as \.csv files.*\(--no-standardize\)\.$"):
        open_dataset(csv, background=npz)
    with pytest.raises(ValueError, match=r"same means and.*both as \.csv files with the same columns\.$"):
        open_dataset(npz, background=csv)
    plain = open_dataset(csv, background=npz, standardize=False)
    assert plain.background is not None
    assert plain.background.observe(torch.arange(1)).tolist() == [[1.0, 20.0]]


def test_a_name_may_be_the_background_and_replaces_one_that_is_there() -> None:
    data = open_dataset("faces", background="sprites", image_size=48, per_class=4, plain=4)
    assert data.background is not None and data.background.name == "sprites"
    assert data.origin["options"]["background"] == "sprites"


def test_the_background_of_a_table_has_the_scale_of_its_target(tmp_path: Path) -> None:
    target, background = tmp_path / "target.csv", tmp_path / "background.csv"
    target.write_text("a,b,kind,id\n1,10,x,p\n3,30,y,q\n")
    background.write_text("a,b,kind,id\n2,20,z,r\n5,20,z,s\n")  # a class of its own, which nobody asks for
    data = open_dataset(str(target), background=str(background), label="kind", drop=("id",))
    assert data.background is not None
    assert data.observe(torch.arange(2)).tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    assert data.background.observe(torch.arange(2)).tolist() == [[0.0, 0.0], [3.0, 0.0]]
    bare = tmp_path / "bare.csv"
    bare.write_text("a,b\n2,20\n")  # without the columns that are no features
    assert (
        len(open_dataset(str(target), background=str(bare), label="kind", drop=("id",)).background or []) == 1
    )


def test_the_columns_of_two_tables_are_matched_by_name(tmp_path: Path) -> None:
    target, background = tmp_path / "target.csv", tmp_path / "background.csv"
    target.write_text("a,b\n1,10\n3,30\n")
    background.write_text("note,b,a\nnew,40,2\n")
    data = open_dataset(str(target), background=str(background), drop=("note",))
    assert data.background is not None
    assert data.background.observe(torch.arange(1)).tolist() == [[0.0, 2.0]]
    again = open_dataset(data.origin["name"], **data.origin["options"])
    assert again.description() == data.description()
    with pytest.raises(ValueError, match=r"only one of them has note: leave them out .*--drop note"):
        open_dataset(str(target), background=str(background))
    with pytest.raises(ValueError, match=r"target\.csv has no column 'nota'"):
        open_dataset(str(target), background=str(background), drop=("note", "nota"))


def test_mistakes_with_a_background_get_one_sentence(tmp_path: Path) -> None:
    target, background = folders(tmp_path)
    Image.new("RGB", (20, 20), (9, 0, 0)).save(Path(background) / "red.png")
    with pytest.raises(
        ValueError, match=r"one shape; caps has \(1, 64, 64\) and faces \(3, 64, 64\).*both gray"
    ):
        open_dataset(target, background=background)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty holds no images"):
        open_dataset(target, background=str(tmp_path / "empty"))
    with pytest.raises(ValueError, match="no dataset 'nowhere'"):
        open_dataset(target, background="nowhere")
    for name, columns in (("three", 3), ("two", 2)):
        np.savez(tmp_path / f"{name}.npz", rows=np.ones((4, columns)))
    with pytest.raises(ValueError, match=r"\(3,\) and two \(2,\): give both the same columns"):
        open_dataset(str(tmp_path / "three.npz"), background=str(tmp_path / "two.npz"))
    table = tmp_path / "holes.csv"
    table.write_text("a,b\n1,\n2,3\n")
    with pytest.raises(ValueError, match=r"lacks 1 of 2 values.*--impute mean"):
        open_dataset(str(table), background=str(table))
