"""Labels and known nuisances from scikit-learn's arrays."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Int, Shaped
from sklearn.utils import check_consistent_length

from unbraid.data import Dataset, FactorSpace
from unbraid.methods import Method, Predicts, built_arguments


def with_supervision(dataset: Dataset, y: Any = None, nuisances: Any = None) -> Dataset:
    """The dataset with labels and known nuisances, which methods that do not learn from them never read.

    Args:
        dataset: Observations without factors.
        y: The class of each observation; ignored unless it is one column of classes.
        nuisances: One nuisance (n,) or several (n, m) of each observation, numbers or strings.
    """
    factors: dict[str, Int[np.ndarray, " n"]] = {}
    if y is not None and (column := class_column(y)) is not None:
        factors["label"] = np.unique(column, return_inverse=True)[1]
    names = []
    if nuisances is not None:
        table = np.asarray(nuisances)
        columns = [table] if table.ndim == 1 else list(table.T)
        names = [f"nuisance_{index}" for index in range(len(columns))]
        factors |= {
            name: np.unique(column, return_inverse=True)[1]
            for name, column in zip(names, columns, strict=True)
        }
    if not factors:
        return dataset
    check_consistent_length(range(len(dataset)), *factors.values())
    space = FactorSpace({name: int(values.max()) + 1 for name, values in factors.items()})
    return dataset.replace(
        factor_space=space,
        combinations=space.index(torch.from_numpy(np.stack(list(factors.values()), 1))),
        label="label" if "label" in factors else None,
        nuisances=names,
    )


def needs_labels(method: type[Method]) -> bool:
    """Whether a method is built for a number of classes."""
    return issubclass(method, Predicts) or "classes" in built_arguments(method)


def required_classes(y: Any) -> Shaped[np.ndarray, " n"]:
    """The column of classes in y, for methods that need labels."""
    if y is None:
        raise ValueError(
            "This method learns from labels, so it requires y to be passed, but the target y is None. Pass the class "
            "of each observation as y."
        )
    if (column := class_column(y)) is None:
        raise ValueError("Unknown label type: y must be one column of classes, whole numbers or strings.")
    return column


def class_column(y: Any) -> Shaped[np.ndarray, " n"] | None:
    """The column of classes in y: whole numbers, truth values or strings; None for anything else."""
    values = np.asarray(y)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1 or not len(values):
        return None
    if values.dtype.kind == "O":
        values = values.astype(str)
    is_whole = values.dtype.kind != "f" or np.array_equal(values, np.round(values))
    return values if is_whole and values.dtype.kind in "biufUS" else None
