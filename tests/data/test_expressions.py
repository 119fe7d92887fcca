"""Faces with expressions against neutral ones, src/unbraid/data/expressions.py."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unbraid.data.expressions import expressions


def put(folder: Path, count: int, grey: int) -> None:
    folder.mkdir(parents=True)
    for place in range(count):
        Image.fromarray(np.full((20, 20), grey, np.uint8)).save(folder / f"{place}.png")


def test_a_folder_for_each_expression(tmp_path: Path) -> None:
    for name, count, grey in (("happy", 3, 10), ("Angry", 2, 20), ("neutral", 4, 200)):
        put(tmp_path / "expressions" / name, count, grey)
    data = expressions(tmp_path, size=16)
    assert data.background is not None and data.shape == (1, 16, 16)
    assert data.value_names["expression"] == ("angry", "happy")
    assert data.combinations.tolist() == [0, 0, 1, 1, 1]  # type: ignore[union-attr]
    assert data.source[:, 0, 0, 0].tolist() == [20, 20, 10, 10, 10]  # type: ignore[index]
    assert len(data.background) == 4 and (data.background.source == 200).all()  # type: ignore[union-attr]
    assert len(expressions(tmp_path, size=16, per_class=1)) == 2
    assert expressions(tmp_path, size=16, grey=False).shape == (3, 16, 16)


def test_folders_by_affectnets_numbers(tmp_path: Path) -> None:
    for number, count in (("0", 2), ("1", 2), ("7", 1)):
        put(tmp_path / "faces" / number, count, 100)
    data = expressions(faces=str(tmp_path / "faces"), size=16)
    assert data.value_names["expression"] == ("contempt", "happy") and len(data.background or []) == 2


def test_affectnets_own_form(tmp_path: Path) -> None:
    put(tmp_path / "affectnet" / "images", 6, 50)
    notes = tmp_path / "affectnet" / "annotations"
    notes.mkdir()
    for place, number in enumerate((0, 1, 2, 1, 9, 0)):  # 9: not one of the eight
        np.save(notes / f"{place}_exp.npy", str(number))
    data = expressions(tmp_path, faces="affectnet", size=16)
    assert data.value_names["expression"] == ("happy", "sad")
    assert data.combinations.tolist() == [0, 0, 1] and len(data.background or []) == 2  # type: ignore[union-attr]
    for damage in (b"", b"\x93NUMPY", (notes / "0_exp.npy").read_bytes()[:90]):
        (notes / "3_exp.npy").write_bytes(damage)
        with pytest.raises(ValueError, match=r"3_exp\.npy is damaged, cut short or of another kind"):
            expressions(tmp_path, faces="affectnet")
    (notes / "3_exp.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"3_exp\.npy is missing"):
        expressions(tmp_path, faces="affectnet")


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expressions.* is missing: download it from"):
        expressions(tmp_path)
    put(tmp_path / "expressions" / "happy", 2, 10)
    with pytest.raises(ValueError, match=r"needs a subfolder `neutral` \(or 0\).*it has happy"):
        expressions(tmp_path)
    for wrong in ({"size": 0}, {"per_class": 0}, {"per_class": -3}):
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"at least one pixel a side, and at least.*{name}={value}"):
            expressions(tmp_path, **wrong)
