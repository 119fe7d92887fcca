"""Reads images or table rows from files named on the command line, as a model takes them."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from unbraid.data import (
    ARRAY_SUFFIXES,
    TABLE_SUFFIXES,
    Table,
    from_npz,
    image_files,
    read_image,
    read_table,
)
from unbraid.runs import Model, as_observations


class UserObservations(NamedTuple):
    """Observations as a model takes them, with what is known about them."""

    names: list[str]
    x: Tensor | np.ndarray  # rows in the units of their table
    condition: Tensor | None = None  # of a conditional method, from the columns of a table
    ignored: tuple[str, ...] = ()  # columns that the model does not use


def read_observations(paths: Sequence[Path], model: Model) -> UserObservations:
    """Reads image files, folders, one .npz, one .npy or one table."""
    shape = model.shape
    if len(paths) == 1 and paths[0].suffix in ARRAY_SUFFIXES:
        dataset = from_npz(paths[0])
        x = as_observations(dataset.raw(torch.arange(len(dataset))), shape)
        return UserObservations([str(row) for row in range(len(x))], x)
    if len(shape) != 3:
        return _read_rows(paths, model)
    files = [file for path in paths for file in (image_files(path) if path.is_dir() else [path])]
    if not files:
        raise ValueError(f"{', '.join(map(str, paths))} contains no images.")
    images: list[Tensor] = [read_image(file, shape) for file in files]  # type: ignore[arg-type]
    return UserObservations([file.name for file in files], torch.stack(images).float() / 255)


def _read_rows(paths: Sequence[Path], model: Model) -> UserObservations:
    """The rows of a table, its columns matched by name with those of the training."""
    if model.columns is None:
        raise ValueError(
            f"The model takes rows of {model.shape[0]} values without names: give an .npz with an array `images`."
        )
    if len(paths) != 1 or paths[0].suffix not in TABLE_SUFFIXES:
        raise ValueError(
            f"The model takes rows with {len(model.columns.names)} columns: give one .csv file with these columns, or "
            "an .npz with an array `images`."
        )
    table, columns = read_table(paths[0]), model.columns
    columns.positions(table.names, str(paths[0]))  # raises if a column is missing
    rows = table.numbers(columns.names, allow_missing=bool(columns.fill), trained=True)
    used = {*columns.names, *model.condition_values}
    return UserObservations(
        [str(row) for row in range(len(rows))],
        rows,
        condition=_condition(model, table),
        ignored=tuple(name for name in table.names if name not in used),
    )


def _condition(model: Model, table: Table) -> Tensor | None:
    """The labels or the known nuisances of the rows, for a conditional method."""
    columns = [table.classes(name, values) for name, values in model.condition_values.items()]
    if not columns:
        return None
    values = torch.from_numpy(np.stack(columns, 1))
    return values[:, 0] if model.method.conditions_on == "labels" else values
