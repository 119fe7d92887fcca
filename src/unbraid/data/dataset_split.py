"""Splitting a dataset in two at random, without a common observation or instance; and resampling it."""

from typing import TYPE_CHECKING

import torch
from torch import Generator, Tensor

from unbraid.data.factors import FactorSpace
from unbraid.data.same_instance import random_split

if TYPE_CHECKING:
    from unbraid.data.dataset import Dataset


def split_dataset(dataset: "Dataset", fraction: float, generator: Generator) -> "tuple[Dataset, Dataset]":
    """Two datasets without a common observation; the second holds the given fraction.

    A background is split in the same way, and each dataset keeps its own half of it.
    """
    if dataset.background is not None:
        targets = split_dataset(dataset.replace(background=None), fraction, generator)
        backgrounds = split_dataset(dataset.background, fraction, generator)
        return targets[0].replace(background=backgrounds[0]), targets[1].replace(background=backgrounds[1])
    space = dataset.factor_space
    if space is not None and dataset.instance is not None:
        return _split_instances(dataset, space, dataset.instance, fraction, generator)
    if space is not None and dataset.combinations is None:
        kept, held_out = space.split(fraction, generator)
        return dataset.replace(factor_space=kept, origin=None), dataset.replace(
            factor_space=held_out, origin=None
        )
    device = generator.device if dataset.combinations is None else dataset.combinations.device
    rows = torch.arange(dataset.num_rows, device=device)
    kept, held_out = random_split(rows, fraction, generator)
    return dataset.subset(kept), dataset.subset(held_out)


def _split_instances(
    dataset: "Dataset", space: FactorSpace, instance: str, fraction: float, generator: Generator
) -> "tuple[Dataset, Dataset]":
    """Splits the instances, so that all rows of an instance stay together."""
    column = space.column(instance)
    instances = random_split(space.observed_values[column], fraction, generator)
    if dataset.combinations is None:
        spaces = [space.only(**{instance: values.tolist()}) for values in instances]
        return dataset.replace(factor_space=spaces[0], origin=None), dataset.replace(
            factor_space=spaces[1], origin=None
        )
    instance_of_row = space.values(dataset.combinations)[:, column]
    rows = [torch.isin(instance_of_row, values).nonzero()[:, 0] for values in instances]
    return dataset.subset(rows[0]), dataset.subset(rows[1])


def resample_dataset(dataset: "Dataset", size: int, generator: Generator) -> "Dataset":
    """A dataset of `size` rows, sampled once with replacement and then equally likely."""
    rows, space, source = dataset.sample_indices(size, generator), dataset.factor_space, dataset.source
    if space is None:
        return dataset.subset(rows)
    combinations = rows if dataset.combinations is None else dataset.combinations[rows]
    if isinstance(source, Tensor):
        source = source[rows.to(source.device)]
    uniform = FactorSpace(dict(zip(space.names, space.sizes, strict=True)))
    return dataset.replace(source=source, factor_space=uniform, combinations=combinations, origin=None)
