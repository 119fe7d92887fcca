"""CSV tables whose columns are features, a class and nuisances."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from unbraid.data.columns import ColumnScaler
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace

MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
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
    values = table.numbers(features, impute=impute)
    columns = ColumnScaler.identity(features)
    if standardize:
        columns = ColumnScaler.fit(reference.numbers(features, impute=impute), features)
        values = columns.transform(values)
    rows = torch.from_numpy(values.astype(np.float32))
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


class Table(NamedTuple):
    """The column names and the cells of a CSV file, as text."""

    path: Path
    names: tuple[str, ...]
    cells: list[list[str]]  # one list per row

    def column(self, name: str) -> list[str]:
        """The cells of one column."""
        if name not in self.names:
            raise ValueError(f"{self.path} has no column {name!r}; its columns are {', '.join(self.names)}.")
        position = self.names.index(name)
        return [row[position] for row in self.cells]

    def numbers(self, columns: Sequence[str], *, impute: Impute = "no") -> Float[np.ndarray, "n f"]:
        """Columns of numbers; missing values raise an error, or become the mean of their column."""
        return np.stack([self._numbers(name, impute) for name in columns], 1)

    def _numbers(self, name: str, impute: Impute) -> Float[np.ndarray, " n"]:
        cells = self.column(name)
        values = np.array([_number(cell) for cell in cells])
        missing = np.array([cell.strip().lower() in MISSING for cell in cells])
        if (text := np.flatnonzero(~np.isfinite(values) & ~missing)).size:
            raise ValueError(
                f"The column {name!r} of {self.path} holds text, {cells[text[0]]!r} in line {text[0] + 2}: leave it "
                f"out with drop (--drop {name}), or make it the label (--label {name}) or a nuisance (--nuisances "
                f"{name})."
            )
        if missing.all():
            raise ValueError(
                f"The column {name!r} of {self.path} is empty: leave it out with drop (--drop {name})."
            )
        if missing.any() and impute == "no":
            raise ValueError(
                f"The column {name!r} of {self.path} lacks {missing.sum()} of {len(cells)} values, the first in line "
                f"{np.flatnonzero(missing)[0] + 2}: fill them with impute (--impute mean), or leave the column out "
                f"with drop (--drop {name})."
            )
        return np.where(missing, values[~missing].mean(), values)

    def values(self, name: str) -> list[str]:
        """The different values of a column, sorted as numbers if all of them are, otherwise as text."""
        cells = [cell.strip() for cell in self.column(name)]
        if (line := next((number for number, cell in enumerate(cells, 2) if cell.lower() in MISSING), 0)) > 0:
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
    lines = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter) if row]
    if len(lines) < 2:
        raise ValueError(
            f"{path} has no rows: the first line names the columns, and each further line is a row."
        )
    names = tuple(name.strip() for name in lines[0])
    if len(set(names)) < len(names) or "" in names:
        raise ValueError(
            f"{path} needs a different name for each column; its first line has {', '.join(names)}."
        )
    for line, row in enumerate(lines[1:], 2):
        if len(row) != len(names):
            raise ValueError(
                f"{path} names {len(names)} columns, and line {line} has {len(row)}: correct the line."
            )
    return Table(path, names, lines[1:])


def _number(cell: str) -> float:
    """The number in a cell; NaN if it is not a number."""
    try:
        return float(cell)
    except ValueError:
        return math.nan
