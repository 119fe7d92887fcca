"""Tables: a CSV file whose columns are features, a class and nuisances."""

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from unbraid.data.columns import Columns
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace

MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
MOST = 256  # different values of a column that is a class or a nuisance
Impute = Literal["no", "mean"]


def table(
    path: Path | str,
    *,
    label: str = "",
    nuisances: tuple[str, ...] = (),
    drop: tuple[str, ...] = (),
    impute: Impute = "no",
    standardise: bool = True,
    like: str = "",
) -> Dataset:
    """The rows of a CSV file: numbers as features, and columns of any values as class and nuisances.

    Args:
        path: The file; its first line names the columns.
        label: The column that is the class.
        nuisances: The columns that are known nuisances.
        drop: The columns to leave out; with `like`, of either file.
        impute: What becomes of missing values: `no` refuses them, `mean` takes the mean of their column.
        standardise: Brings every feature to mean 0 and variance 1.
        like: Another such file whose classes, means and spreads are taken, such as the one trained on. Both must have
            the same features; they come in the order of that file.
    """
    read = read_table(path)
    first = read if not like else read_table(like)
    roles = [*([label] if label else []), *nuisances]
    for name in (*roles, *(name for name in drop if name not in first.names)):
        read.column(name)
    if len(set(roles)) < len(roles):
        raise ValueError(
            f"A column cannot be both class and nuisance, or one nuisance twice: {', '.join(roles)}."
        )
    features, own = ([name for name in one.names if name not in {*roles, *drop}] for one in (first, read))
    if not features:
        raise ValueError(f"{path} has no column left to be a feature: name fewer of them.")
    if apart := sorted({*features} ^ {*own}):
        raise ValueError(
            f"{path} and {like} need the same columns of features, and only one of them has {', '.join(apart)}: leave "
            f"them out with drop (--drop {','.join(apart)})."
        )
    values = read.numbers(features, impute=impute)
    columns = Columns.plain(features)
    if standardise:
        columns = Columns.of(first.numbers(features, impute=impute), features)
        values = columns.standardised(values)
    rows = torch.from_numpy(values.astype(np.float32))
    if not roles:
        return Dataset(rows, name=read.path.stem, white=1, columns=columns)
    names = {role: first.values(role) for role in roles}
    numbers = [read.classes(role, names[role]) for role in roles]
    space = FactorSpace({role: len(names[role]) for role in roles})
    return Dataset(
        rows,
        name=read.path.stem,
        white=1,
        space=space,
        combinations=space.index(torch.from_numpy(np.stack(numbers, 1))),
        label=label or None,
        nuisances=nuisances,
        value_names=names,
        columns=columns,
    )


class Table(NamedTuple):
    """A CSV file as it was written: names of the columns, and what stands in each."""

    path: Path
    names: tuple[str, ...]
    cells: list[list[str]]  # a list for each row

    def column(self, name: str) -> list[str]:
        """What stands in one column."""
        if name not in self.names:
            raise ValueError(f"{self.path} has no column {name!r}; its columns are {', '.join(self.names)}.")
        place = self.names.index(name)
        return [row[place] for row in self.cells]

    def numbers(self, columns: Sequence[str], *, impute: Impute = "no") -> Float[np.ndarray, "n f"]:
        """Columns of numbers; missing ones are refused, or become the mean of their column."""
        return np.stack([self._numbers(name, impute) for name in columns], 1)

    def _numbers(self, name: str, impute: Impute) -> Float[np.ndarray, " n"]:
        cells = self.column(name)
        found = np.array([_number(cell) for cell in cells])
        missing = np.array([cell.strip().lower() in MISSING for cell in cells])
        if (text := np.flatnonzero(~np.isfinite(found) & ~missing)).size:
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
                f"{np.flatnonzero(missing)[0] + 2}: fill them by impute (--impute mean), or leave the column out with "
                f"drop (--drop {name})."
            )
        return np.where(missing, found[~missing].mean(), found)

    def values(self, name: str) -> list[str]:
        """The different values of a column, in the order of numbers where all are, else of letters."""
        cells = [cell.strip() for cell in self.column(name)]
        if (line := next((at for at, cell in enumerate(cells, 2) if cell.lower() in MISSING), 0)) > 0:
            raise ValueError(
                f"The column {name!r} of {self.path} is a class or a nuisance and lacks a value in line {line}: "
                "take such rows out."
            )
        found = sorted(set(cells))
        if len(found) > MOST:
            raise ValueError(
                f"The column {name!r} of {self.path} has {len(found)} different values, too many for a class or a "
                f"nuisance: sort them into at most {MOST} groups first."
            )
        return sorted(found, key=_number) if all(math.isfinite(_number(value)) for value in found) else found

    def classes(self, name: str, values: Sequence[str]) -> Int[np.ndarray, " n"]:
        """The place of each row's value among the given ones."""
        places = {value: place for place, value in enumerate(values)}
        cells = [cell.strip() for cell in self.column(name)]
        if unknown := sorted({cell for cell in cells if cell not in places}):
            raise ValueError(
                f"The column {name!r} of {self.path} holds {unknown[0]!r}, which is none of {', '.join(values)}."
            )
        return np.array([places[cell] for cell in cells])


def read_table(path: Path | str) -> Table:
    """A CSV file with a line of names, separated by commas, semicolons or tabs."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist: give a .csv file whose first line names the columns."
        )
    try:
        text = path.read_text(encoding="utf-8-sig")  # with or without a byte-order mark
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8: save it as CSV in UTF-8.") from None
    header = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=header.count)
    lines = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter) if row]
    if len(lines) < 2:
        raise ValueError(
            f"{path} has no rows: its first line names the columns, and each further one is a row."
        )
    names = tuple(name.strip() for name in lines[0])
    if len(set(names)) < len(names) or "" in names:
        raise ValueError(
            f"{path} needs a different name for each column; its first line has {', '.join(names)}."
        )
    for line, row in enumerate(lines[1:], 2):
        if len(row) != len(names):
            raise ValueError(
                f"{path} names {len(names)} columns, and line {line} has {len(row)}: mend the line."
            )
    return Table(path, names, lines[1:])


def _number(cell: str) -> float:
    """The number that a cell holds; NaN where it holds none."""
    try:
        return float(cell)
    except ValueError:
        return math.nan
