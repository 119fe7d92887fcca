"""CSV files, src/unbraid/data/table.py."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data.registry import open_dataset
from unbraid.data.root import data_root
from unbraid.data.table import from_csv, read_table

TEXT = "\ufeffid,age,income,sex,paid\na,20,1.5,f,no\nb,40,,m,yes\nc,60,2.5,f,yes\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "loans.csv").write_text(TEXT, encoding="utf-8")
    return tmp_path / "loans.csv"


def other(file: Path, text: str) -> Path:
    path = file.with_name("other.csv")
    path.write_text(text)
    return path


def test_columns_become_features_class_and_nuisance(file: Path) -> None:
    dataset = from_csv(file, label="paid", nuisances=("sex",), drop=("id",), impute="mean", standardize=False)
    assert_close(dataset.source, torch.tensor([[20.0, 1.5], [40.0, 2.0], [60.0, 2.5]]))
    factors = dataset.factors(torch.arange(3))
    assert factors.tolist() == [[0, 0], [1, 1], [1, 0]]
    assert dataset.value_names == {"paid": ["no", "yes"], "sex": ["f", "m"]}
    assert (dataset.label, dataset.nuisances, dataset.name) == ("paid", ("sex",), "loans")
    assert not dataset.images


def test_features_are_standardized_by_the_other_file(file: Path) -> None:
    """Ages 20, 40, 60: mean 40 and spread √(800/3); 80 is (80 - 40) / that."""
    options = {"label": "paid", "drop": ("id", "income", "sex")}
    spread = (800 / 3) ** 0.5
    own = from_csv(file, **options)
    assert_close(own.source[:, 0], torch.tensor([-20 / spread, 0, 20 / spread]))
    path = other(file, "id,age,income,sex,paid\na,80,1,f,yes\n")
    like = open_dataset(str(path), reference_table=str(file), **options)
    assert_close(like.source, torch.tensor([[40 / spread]]))
    assert like.factors(torch.tensor([0])).tolist() == [[1]]  # numbered as in the first file


def test_features_come_in_the_order_of_the_other_file(file: Path) -> None:
    path = other(file, "income,age\n2.5,60\n")
    drop = ("id", "sex", "paid")  # of the first file alone
    assert from_csv(
        path, reference_table=str(file), drop=drop, impute="mean", standardize=False
    ).source.tolist() == [[60, 2.5]]
    with pytest.raises(ValueError, match=r"only one of them has age, income: .* \(--drop age,income\)"):
        from_csv(other(file, "x\n1\n"), reference_table=str(file), drop=(*drop, "x"))


@pytest.mark.parametrize("value", ["3", "0.1"])  # the computed deviation of many 0.1 is not quite 0
def test_a_constant_feature_becomes_zero_and_is_named(file: Path, value: str) -> None:
    path = other(file, "a;b\n" + "".join(f"{value};{n * n}\n" for n in range(30)))
    with pytest.warns(UserWarning, match=rf"'a' of .* has the value {value} in all rows, .* \(--drop a\)"):
        rows = from_csv(path).source
    assert_close(rows[:, 0], torch.zeros(30))


def test_one_value_that_fills_a_column_is_named(file: Path) -> None:
    with pytest.warns(UserWarning, match="'a' of .* has the value 3 in the 1 rows that have one"):
        from_csv(other(file, "a,b\n3,1\n,5\nNA,2\n"), impute="mean")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mouse_id,x\n4,1\n7,1.5\n5,3\n", True),
        ("MouseID,x\n4,1\n7,1.5\n5,3\n", True),
        ("t,x\n" + "".join(f"{n},{n % 7}\n" for n in range(10)), True),
        ("t,x\n" + "".join(f"{n},{n % 7}\n" for n in range(1, 11)), True),
        ("t,x\n" + "".join(f"{n},{n % 7}\n" for n in range(5)), False),  # too short to tell
        ("humid,x\n4,1\n7,1.5\n5,3\n", False),
        ("id,x\n4,1\n4,1.5\n5,3\n", False),  # values that repeat
        ("id,x\n4.5,1\n4,1.5\n5,3\n", False),
    ],
)
def test_columns_that_number_the_rows_are_named(file: Path, text: str, said: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert from_csv(other(file, text)).shape == (2,)
    name = text.partition(",")[0]
    assert len(caught) == said
    assert all(f"'{name}'" in str(one.message) and f"--drop {name}" in str(one.message) for one in caught)


@pytest.mark.parametrize(
    "cell", ["1_1", "0x10", "１２", "1e400", "1e39", "inf", "-Infinity", "1e", "--1", "1 2"]
)
def test_what_only_python_takes_for_a_number_is_text(file: Path, cell: str) -> None:
    path = file.with_name("other.csv")
    path.write_text(f"a,b\n1,2\n\n{cell},3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"'a' of .* holds text, '{cell}' in line 4: .* \(--drop a\)"):
        from_csv(path)


@pytest.mark.parametrize("cell", ["-1.5", " +2 ", ".5", "3.", "1e-3", "2E+4"])
def test_numbers_are_numbers(file: Path, cell: str) -> None:
    assert read_table(other(file, f"a\n{cell}\n")).numbers(["a"])[0, 0] == float(cell)


def test_missing_values_take_the_mean_of_the_training_table(file: Path) -> None:
    """Of 20, 40 and 60, and not of the file that is read."""
    path = other(file, "age\n100\nNA\n")
    options = {"drop": ("id", "income", "sex", "paid"), "impute": "mean"}
    rows = from_csv(path, reference_table=str(file), standardize=False, **options).source
    assert rows.tolist() == [[100], [40]]
    columns = from_csv(file, standardize=False, **options).columns
    assert columns is not None and columns.fill == (40,)


def test_a_field_that_csv_cannot_hold_is_refused(file: Path) -> None:
    with pytest.raises(ValueError, match=r"Line 2 of .*other\.csv is no line of a CSV file"):
        read_table(other(file, "a\n" + "x" * 200_000 + "\n"))


def test_numbers_are_classes_in_their_order(file: Path) -> None:
    read = read_table(other(file, "kind\tx\n10\t1\n9\t2\n10\t3\n"))
    assert read.values("kind") == ["9", "10"]
    assert read.classes("kind", ["9", "10"]).tolist() == [1, 0, 1]
    assert_close(read.numbers(["x"]), np.array([[1.0], [2.0], [3.0]]))


def test_cells_may_hold_quoted_commas(file: Path) -> None:
    read = read_table(other(file, 'a,b\n"1,5",x\n'))
    assert read.cells == [["1,5", "x"]]


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (TEXT, {"drop": ("id", "sex", "paid")}, r"'income' of .* lacks 1 of 3 values, the first in line 3"),
        (
            TEXT,
            {"drop": ("income",)},
            r"'id' of .* holds text, 'a' in line 2: leave it out with drop \(--drop id\).*\(--label id\)",
        ),
        (TEXT, {"label": "payed"}, "has no column 'payed'; its columns are id, age, income, sex, paid"),
        (TEXT, {"label": "income", "drop": ("id", "sex", "paid")}, "lacks a value in line 3"),
        (TEXT, {"label": "sex", "nuisances": ("sex",)}, "cannot be both class and nuisance"),
        (TEXT, {"drop": ("id", "age", "income", "sex", "paid")}, "no column left as a feature"),
        ("a,b\n1\n", {}, "names 2 columns, and line 2 has 1"),
        ("a,a\n1,2\n", {}, "a different name for each column"),
        ("a,b\n", {}, "has no rows"),
        ("", {}, "has no rows"),
        ("a\ninf\n", {}, "holds text, 'inf'"),
        ("a,b\n?,1\nNA,2\n", {"impute": "mean"}, "'a' of .* is empty"),
        (
            "a,x\n" + "".join(f"{n},{n % 7}\n" for n in range(300)),
            {"label": "a"},
            "300 different values, too many",
        ),
    ],
)
def test_mistakes_get_one_sentence(file: Path, text: str, options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        from_csv(other(file, text.lstrip("\ufeff")), **options)


def test_a_class_that_training_did_not_have_is_refused(file: Path) -> None:
    path = other(file, "age,paid\n1,perhaps\n")
    with pytest.raises(ValueError, match="holds 'perhaps', which is not one of no, yes"):
        from_csv(path, label="paid", reference_table=str(file), drop=("id", "income", "sex"))


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        read_table(tmp_path / "binary.csv")


def test_the_mouse_proteins() -> None:
    path = data_root() / "mouse-protein" / "Data_Cortex_Nuclear.csv"
    if not path.is_file():
        pytest.skip("the mouse proteins are not under UNBRAID_DATA")
    drop = ("MouseID", "Treatment", "Behavior", "class")
    dataset = from_csv(path, label="Genotype", drop=drop, impute="mean")
    assert dataset.shape == (77,) and len(dataset) == 1080
    assert dataset.value_names["Genotype"] == ["Control", "Ts65Dn"]
    assert_close(dataset.source.mean(0), torch.zeros(77), atol=1e-5, rtol=0)
