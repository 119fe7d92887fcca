"""Faces with a hat or glasses against faces with neither, src/unbraid/data/celeba.py."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data.celeba import celeba
from unbraid.data.root import data_root

# Gray value of the image, hat, glasses: four hats, three glasses, one both, five neither, and one that is not there.
FACES = [(10, 1, -1)] * 4 + [(90, -1, 1)] * 3 + [(200, 1, 1)] + [(150, -1, -1)] * 5 + [(0, 1, -1)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "celeba" / "img_align_celeba"
    folder.mkdir(parents=True)
    lines = [str(len(FACES)), "Bald Eyeglasses Wearing_Hat"]
    for index, (gray, hat, glasses) in enumerate(FACES, start=1):
        lines.append(f"{index:06d}.jpg  -1 {glasses:2d} {hat:2d}")
        if index < len(FACES):
            Image.fromarray(np.full((22, 18, 3), gray, np.uint8)).save(folder / f"{index:06d}.jpg")
    (tmp_path / "celeba" / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_both_classes_are_balanced_and_faces_with_both_are_left_out(root: Path) -> None:
    data = celeba(root, image_size=16)
    assert data.background is not None
    assert data.combinations.tolist() == [0, 0, 0, 1, 1, 1]  # type: ignore[union-attr]
    assert data.value_names["attribute"] == ("Wearing_Hat", "Eyeglasses")
    grays = data.source.float().mean((1, 2, 3)).round()  # type: ignore[union-attr]
    assert grays[:3].tolist() == [10.0] * 3 and (grays[3:] - 90).abs().max() <= 1
    assert len(data.background) == 5
    assert (data.background.source.float() - 150).abs().max() <= 1  # type: ignore[union-attr]


def test_the_number_of_pairs_is_an_option(root: Path) -> None:
    data = celeba(root, image_size=16, per_class=2, plain=3)
    assert len(data) == 4 and data.background is not None and len(data.background) == 3
    assert torch.equal(data.source, celeba(root, image_size=16, per_class=2, plain=3).source)  # type: ignore[arg-type]


def test_mistakes_get_one_sentence(root: Path, tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"list_attr_celeba\.txt is missing: download it from https://mmlab"
    ):
        celeba(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="has no attribute 'Hat'; it has Bald, Eyeglasses, Wearing_Hat"):
        celeba(root, attributes=("Hat", "Eyeglasses"))
    with pytest.raises(ValueError, match="at least two different attributes"):
        celeba(root, attributes=("Eyeglasses",))
    with pytest.raises(ValueError, match="lacks faces with Bald only"):
        celeba(root, attributes=("Bald", "Eyeglasses"))
    for wrong in ({"image_size": 0}, {"per_class": 0}, {"per_class": -3}, {"plain": 0}, {"plain": -5}):
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"must be at least 1; got .*{name}={value}"):
            celeba(root, **wrong)
    path = root / "celeba" / "list_attr_celeba.txt"
    path.write_text(path.read_text() + "000099.jpg 1\n")
    with pytest.raises(ValueError, match="is damaged: a line has 2 entries for 4 columns"):
        celeba(root)
    path.write_bytes(path.read_bytes() + b"\xff\xfe")
    with pytest.raises(ValueError, match=r"list_attr_celeba\.txt is damaged, cut short or of another kind"):
        celeba(root)


@pytest.mark.skipif(not (data_root() / "celeba").is_dir(), reason="CelebA is not in the data root")
def test_the_official_files() -> None:
    data = celeba(per_class=8, plain=8, image_size=32)
    assert data.shape == (3, 32, 32) and len(data) == 16
