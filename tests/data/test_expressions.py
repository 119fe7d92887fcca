"""Faces with expressions against neutral ones, src/unbraid/data/expressions.py."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unbraid.data.expressions import expressions


def put(folder: Path, count: int, gray: int) -> None:
    folder.mkdir(parents=True)
    for index in range(count):
        Image.fromarray(np.full((20, 20), gray, np.uint8)).save(folder / f"{index}.png")


def test_a_folder_for_each_expression(tmp_path: Path) -> None:
    for name, count, gray in (("happy", 3, 10), ("Angry", 2, 20), ("neutral", 4, 200)):
        put(tmp_path / "expressions" / name, count, gray)
    data = expressions(tmp_path, image_size=16)
    assert data.background is not None and data.shape == (1, 16, 16)
    assert data.value_names["expression"] == ("angry", "happy")
    assert data.combinations.tolist() == [0, 0, 1, 1, 1]  # type: ignore[union-attr]
    assert data.source[:, 0, 0, 0].tolist() == [20, 20, 10, 10, 10]  # type: ignore[index]
    assert len(data.background) == 4 and (data.background.source == 200).all()  # type: ignore[union-attr]
    assert len(expressions(tmp_path, image_size=16, per_class=1)) == 2
    assert expressions(tmp_path, image_size=16, gray=False).shape == (3, 16, 16)


def test_folders_by_affectnets_numbers(tmp_path: Path) -> None:
    for number, count in (("0", 2), ("1", 2), ("7", 1)):
        put(tmp_path / "faces" / number, count, 100)
    data = expressions(faces=str(tmp_path / "faces"), image_size=16)
    assert data.value_names["expression"] == ("contempt", "happy") and len(data.background or []) == 2


def test_affectnets_layout(tmp_path: Path) -> None:
    put(tmp_path / "affectnet" / "images", 6, 50)
    notes = tmp_path / "affectnet" / "annotations"
    notes.mkdir()
    for index, number in enumerate((0, 1, 2, 1, 9, 0)):  # 9: not one of the eight
        np.save(notes / f"{index}_exp.npy", str(number))
    data = expressions(tmp_path, faces="affectnet", image_size=16)
    assert data.value_names["expression"] == ("happy", "sad")
    assert data.combinations.tolist() == [0, 0, 1] and len(data.background or []) == 2  # type: ignore[union-attr]
    for damage in (b"", b"\x93NUMPY", (notes / "0_exp.npy").read_bytes()[:90]):
        (notes / "3_exp.npy").write_bytes(damage)
        with pytest.raises(ValueError, match=r"3_exp\.npy is damaged, cut short or of another kind"):
            expressions(tmp_path, faces="affectnet")
    (notes / "3_exp.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"3_exp\.npy is missing"):
        expressions(tmp_path, faces="affectnet")


def test_mistakes_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expressions.* is missing: download it from"):
        expressions(tmp_path)
    put(tmp_path / "expressions" / "happy", 2, 10)
    with pytest.raises(ValueError, match=r"needs a subfolder `neutral` \(or 0\).*it has happy"):
        expressions(tmp_path)
    for wrong in ({"image_size": 0}, {"per_class": 0}, {"per_class": -3}):
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"must be at least 1; got .*{name}={value}"):
            expressions(tmp_path, **wrong)
