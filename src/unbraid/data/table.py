"""CSV tables whose columns are features, a class and nuisances."""

import csv
import io
import math
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from unbraid.data.columns import ColumnScaler
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace

TABLE_SUFFIXES = (".csv", ".tsv")
MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
NUMBER = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
)  # Python also takes 1_1 and other scripts
LARGEST = float(np.finfo(np.float32).max)
ID_NAME = re.compile(r"(?i:(.*[^a-z])?(id|idx|index|row|rownames)|unnamed: 0)|.*ID")
DROP_TEXT = (
    "leave it out with drop (--drop {name}), or make it the label (--label {name}) or a nuisance "
    "(--nuisances {name})"
)
FILL = "fill them with impute (--impute mean), or leave the column out with drop (--drop {name})"
FILL_TRAINED = "fill them or remove the rows, or train with missing values filled (--impute mean)"
MIN_COUNTED = 10  # rows of a table whose column 1, 2, 3, … is called row numbers
MAX_VALUES = 256  # different values of a column that is a class or a nuisance
Impute = Literal["no", "mean"]


def from_csv(
    path: Path | str,
    *,
    label: str = "",
    nuisances: tuple[str, ...] = (),
    drop: tuple[str, ...] = (),
    impute: Impute = "no",
    standardize: bool = True,
    reference_table: str = "",
) -> Dataset:
    """The rows of a CSV file: numeric columns as features, columns of any values as class and nuisances.

    Columns that hold row numbers or one value only are features like any other, with a warning that names them.

    Args:
        path: The file; the first line names the columns.
        label: Column that is the class.
        nuisances: Columns that are known nuisances.
        drop: Columns to leave out; with reference_table, of either file.
        impute: Treatment of missing values: `no` raises an error, `mean` inserts the mean of the column.
        standardize: Scale every feature to mean 0 and variance 1.
        reference_table: Another CSV file, such as the training table, that supplies classes, column order, means and
            standard deviations. Both files need the same features.
    """
    table = read_table(path)
    reference = table if not reference_table else read_table(reference_table)
    class_columns = [*([label] if label else []), *nuisances]
    for name in (*class_columns, *(name for name in drop if name not in reference.names)):
        table.column(name)
    if len(set(class_columns)) < len(class_columns):
        raise ValueError(
            f"A column cannot be both class and nuisance, or a nuisance twice: {', '.join(class_columns)}."
        )
    features = _features(table, reference, {*class_columns, *drop})
    columns = _scaler(reference, features, impute=impute, standardize=standardize)
    values = table.numbers(features, allow_missing=impute == "mean")
    if reference is table:
        _warn_of_useless_columns(table, features, values)
    rows = torch.from_numpy(columns.transform(values).astype(np.float32))
    if not class_columns:
        return Dataset(rows, name=table.path.stem, max_value=1, columns=columns)
    value_names = {column: reference.values(column) for column in class_columns}
    numbers = [table.classes(column, names) for column, names in value_names.items()]
    space = FactorSpace({column: len(names) for column, names in value_names.items()})
    return Dataset(
        rows,
        name=table.path.stem,
        max_value=1,
        factor_space=space,
        combinations=space.index(torch.from_numpy(np.stack(numbers, 1))),
        label=label or None,
        nuisances=nuisances,
        value_names=value_names,
        unordered=nuisances,
        columns=columns,
    )


def _features(table: "Table", reference: "Table", other: set[str]) -> list[str]:
    """The names of the feature columns, in the order of the reference table; `other` are not features."""
    features, present = ([name for name in each.names if name not in other] for each in (reference, table))
    if not features:
        raise ValueError(
            f"{table.path} has no column left as a feature: name fewer columns as label, nuisances or drop."
        )
    if unmatched := sorted({*features} ^ {*present}):
        raise ValueError(
            f"{table.path} and {reference.path} need the same feature columns, and only one of them has "
            f"{', '.join(unmatched)}: leave them out with drop (--drop {','.join(unmatched)})."
        )
    return features


def _scaler(table: "Table", features: Sequence[str], *, impute: Impute, standardize: bool) -> ColumnScaler:
    """The scaler of the features of a training table."""
    values = table.numbers(features, allow_missing=impute == "mean")
    fill = table.means(features, values) if impute == "mean" else ()
    columns = ColumnScaler.identity(features, fill)
    return ColumnScaler.fit(columns.transform(values), features, fill) if standardize else columns


def _warn_of_useless_columns(
    table: "Table", features: Sequence[str], values: Float[np.ndarray, "n f"]
) -> None:
    """Warns of columns that number the rows, and of those with one value only."""
    for name, column in zip(features, values.T, strict=True):
        present = column[~np.isnan(column)]
        if len(column) > 1 and (present == present[0]).all():
            where = "all rows" if len(present) == len(column) else f"the {len(present)} rows that have one"
            reason = f"has the value {present[0]:g} in {where}, so a model learns nothing from it"
        elif _numbers_rows(name, column):
            reason = "numbers the rows, and a model takes the numbers for measurements"
        else:
            continue
        warnings.warn(
            f"The column {name!r} of {table.path} {reason}: leave it out with drop (--drop {name}).",
            stacklevel=3,
        )


def _numbers_rows(name: str, column: Float[np.ndarray, " n"]) -> bool:
    """Whether a column holds IDs: different whole numbers under such a name, or 0, 1, 2, … or 1, 2, 3, … in order."""
    if np.isnan(column).any() or (column != np.round(column)).any() or len(np.unique(column)) < len(column):
        return False
    counts = len(column) >= MIN_COUNTED and column[0] in (0, 1) and bool((np.diff(column) == 1).all())
    return counts or (len(column) > 1 and ID_NAME.fullmatch(name) is not None)


class Table(NamedTuple):
    """The column names and the cells of a CSV file, as text."""

    path: Path
    names: tuple[str, ...]
    cells: list[list[str]]  # one list per row
    lines: tuple[int, ...]  # the line in which each row ends

    def column(self, name: str) -> list[str]:
        """The cells of one column."""
        if name not in self.names:
            raise ValueError(f"{self.path} has no column {name!r}; its columns are {', '.join(self.names)}.")
        position = self.names.index(name)
        return [row[position] for row in self.cells]

    def numbers(
        self, columns: Sequence[str], *, allow_missing: bool = False, trained: bool = False
    ) -> Float[np.ndarray, "n f"]:
        """Columns of numbers; missing values raise an error, or are NaN.

        Args:
            columns: The names of the columns.
            allow_missing: Whether values may be missing.
            trained: Whether the columns are those of a trained model, so that none can be left out.
        """
        return np.stack([self._numbers(name, allow_missing, trained) for name in columns], 1)

    def _numbers(self, name: str, allow_missing: bool, trained: bool) -> Float[np.ndarray, " n"]:
        cells = self.column(name)
        values = np.array([_number(cell) for cell in cells])
        missing = np.array([cell.strip().lower() in MISSING for cell in cells])
        if (text := np.flatnonzero(np.isnan(values) & ~missing)).size:
            cure = "correct the cell" if trained else DROP_TEXT.format(name=name)
            raise ValueError(
                f"The column {name!r} of {self.path} holds text, {cells[text[0]]!r} in line {self.lines[text[0]]}: "
                f"{cure}."
            )
        if missing.any() and not allow_missing:
            cure = FILL_TRAINED if trained else FILL.format(name=name)
            raise ValueError(
                f"The column {name!r} of {self.path} lacks {missing.sum()} of {len(cells)} values, the first in line "
                f"{self.lines[np.flatnonzero(missing)[0]]}: {cure}."
            )
        return values

    def means(self, columns: Sequence[str], values: Float[np.ndarray, "n f"]) -> list[float]:
        """The mean of the values that each column has."""
        present = [column[~np.isnan(column)] for column in values.T]
        for name, values_of_column in zip(columns, present, strict=True):
            if not len(values_of_column):
                raise ValueError(
                    f"The column {name!r} of {self.path} is empty: leave it out with drop (--drop {name})."
                )
        return [float(column.mean()) for column in present]

    def values(self, name: str) -> list[str]:
        """The different values of a column, sorted as numbers if all of them are, otherwise as text."""
        cells = [cell.strip() for cell in self.column(name)]
        absent = (line for line, cell in zip(self.lines, cells, strict=True) if cell.lower() in MISSING)
        if (line := next(absent, 0)) > 0:
            raise ValueError(
                f"The column {name!r} of {self.path} is a class or a nuisance and lacks a value in line {line}: "
                "remove rows without a value."
            )
        values = sorted(set(cells))
        if len(values) > MAX_VALUES:
            raise ValueError(
                f"The column {name!r} of {self.path} has {len(values)} different values, too many for a class or a "
                f"nuisance: group them into at most {MAX_VALUES} first."
            )
        return (
            sorted(values, key=_number) if all(math.isfinite(_number(value)) for value in values) else values
        )

    def classes(self, name: str, values: Sequence[str]) -> Int[np.ndarray, " n"]:
        """The index of each row's value among the given values."""
        positions = {value: index for index, value in enumerate(values)}
        cells = [cell.strip() for cell in self.column(name)]
        if unknown := sorted({cell for cell in cells if cell not in positions}):
            raise ValueError(
                f"The column {name!r} of {self.path} holds {unknown[0]!r}, which is not one of {', '.join(values)}."
            )
        return np.array([positions[cell] for cell in cells])


def read_table(path: Path | str) -> Table:
    """Reads a CSV file with a line of column names, separated by commas, semicolons or tabs."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist: give a .csv file whose first line names the columns."
        )
    try:
        text = path.read_text(encoding="utf-8-sig")  # with or without a byte-order mark
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text: save it as CSV in UTF-8.") from None
    header = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        lines = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise ValueError(f"Line {reader.line_num} of {path} is no line of a CSV file: {error}.") from None
    if len(lines) < 2:
        raise ValueError(
            f"{path} has no rows: the first line names the columns, and each further line is a row."
        )
    names = tuple(name.strip() for name in lines[0][1])
    if len(set(names)) < len(names) or "" in names:
        raise ValueError(
            f"{path} needs a different name for each column; its first line has {', '.join(names)}."
        )
    for line, row in lines[1:]:
        if len(row) != len(names):
            raise ValueError(
                f"{path} names {len(names)} columns, and line {line} has {len(row)}: correct the line."
            )
    return Table(path, names, [row for _, row in lines[1:]], tuple(line for line, _ in lines[1:]))


def _number(cell: str) -> float:
    """The number in a cell; NaN if it is not a number, or too large for one."""
    number = float(cell) if NUMBER.fullmatch(cell := cell.strip()) else math.nan
    return number if abs(number) <= LARGEST else math.nan
