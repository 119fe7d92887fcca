"""Reading images and rows, src/unbraid/cli/observations.py."""

from pathlib import Path

import numpy as np
import pytest

from tests.tiny import make
from unbraid.cli.observations import read_observations
from unbraid.data import ColumnScaler
from unbraid.methods import BetaVAE
from unbraid.runs import Model

IMAGES = Model(make(BetaVAE).float(), (1, 32, 32))


def of_rows(columns: ColumnScaler | None, **values: tuple[str, ...]) -> Model:
    return Model(make(BetaVAE).float(), (2,), columns=columns, condition_values=values)


def test_files_and_folders_are_read_in_the_shape_of_the_model(image_folder: Path) -> None:
    names, images, *_ = read_observations([image_folder, image_folder / "a.png"], IMAGES)
    assert names == ["a.png", "b.png", "a.png"] and images.shape == (3, 1, 32, 32)
    assert images[0].unique().tolist() == pytest.approx([40 / 255])


def test_the_rows_of_an_array_are_named_by_index(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", images=np.full((2, 32, 32), 255, np.uint8))
    names, images, *_ = read_observations([tmp_path / "mine.npz"], IMAGES)
    assert names == ["0", "1"] and images.shape == (2, 1, 32, 32) and bool((images == 1).all())


def test_an_empty_folder_and_rows_from_images_are_refused(image_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty contains no images\."):
        read_observations([tmp_path / "empty"], IMAGES)
    with pytest.raises(ValueError, match=r"rows of 2 values without names: give an \.npz"):
        read_observations([image_folder], of_rows(None))
    with pytest.raises(ValueError, match=r"rows with 2 columns: give one \.csv file"):
        read_observations([image_folder], of_rows(ColumnScaler.identity(("a", "b"))))


def test_the_columns_of_a_table_are_matched_by_name(tmp_path: Path) -> None:
    path, model = tmp_path / "rows.csv", of_rows(ColumnScaler.identity(("a", "b")), sex=("f", "m"))
    path.write_text("note,b,sex,a\nx,2,m,1\ny,4,f,3\n")
    found = read_observations([path], model)
    assert np.asarray(found.x).tolist() == [[1, 2], [3, 4]] and found.names == ["0", "1"]
    assert found.ignored == ("note",)
    assert found.condition is not None and found.condition.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,sex\n1,f\n", r"lacks the column 'b'\. .* it needs a, b; it has a, sex\."),
        ("a,b\n1,2\n", "has no column 'sex'; its columns are a, b"),
        ("a,b,sex\n1,2,x\n", "holds 'x', which is not one of f, m"),
        (
            "a,b,sex\n1,2,f\n,3,m\n",
            r"'a' of .* lacks 1 of 2 values, the first in line 3: .*train with missing",
        ),
        ("a,b,sex\n1,2_0,f\n", r"'b' of .* holds text, '2_0' in line 2: correct the cell\."),
    ],
)
def test_rows_that_the_model_cannot_take_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "rows.csv").write_text(text)
    model = of_rows(ColumnScaler.identity(("a", "b")), sex=("f", "m"))
    with pytest.raises(ValueError, match=sentence):
        read_observations([tmp_path / "rows.csv"], model)
