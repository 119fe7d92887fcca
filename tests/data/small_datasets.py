"""Datasets of a few rows that tests of datasets and draws share."""

import torch

from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace

GRID = FactorSpace({"a": 2, "b": 3})
NUMBERS = FactorSpace({"a": 2, "b": 3, "c": 4, "one": 1, "d": 5})


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def grid(**arguments: object) -> Dataset:
    images = torch.arange(6, dtype=torch.uint8)[:, None, None, None].expand(6, 1, 2, 2).clone()
    return Dataset(images, **({"name": "grid", "factor_space": GRID, "max_value": 5} | arguments))


def table() -> Dataset:
    """Seven rows: three of combination 4, two of combination 0, one each of 5 and 2; none of 1 and 3."""
    rows = torch.arange(7.0)[:, None].expand(7, 3).clone()
    combinations = torch.tensor([4, 0, 4, 5, 0, 4, 2])
    return Dataset(rows, name="table", max_value=1, factor_space=GRID, combinations=combinations, label="b")


def numbers(space: FactorSpace = NUMBERS, **roles: object) -> Dataset:
    """Rows that hold their row number."""
    rows = torch.arange(float(space.num_combinations))[:, None]
    return Dataset(rows, name="numbers", max_value=1, factor_space=space, **roles)
