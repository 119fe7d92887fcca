"""Figures of strands: strands exchanged or replaced by noise, change per dimension, t-SNE per strand.

Reconstruction for Disentanglement, Contrast for Invariance, 2022: Figs. 5 to 8.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Generator, Tensor

from unbraid.data import Dataset, PairDraw
from unbraid.methods import SwapsPairs
from unbraid.objectives import swap_where
from unbraid.report.figures import Figure, Row
from unbraid.runs import Model
from unbraid.strands import innermost_strands
from unbraid.types import Codes, Factors, PairBatch

INACTIVE = 0.02  # least mean difference of two random observations in an active dimension
MIN_PAIRS = 8  # per factor


def strand_edits(
    model: Model,
    dataset: Dataset,
    *,
    predictive: str = "predictive",
    nuisance: str = "nuisance",
    count: int = 8,
    seed: int = 0,
) -> Figure:
    """Both images of pairs, their reconstructions, and what is decoded after each change of their codes (Fig. 8).

    The changes are the swap of Eq. 5, if the method has one, and noise in place of each strand.
    """
    batch = _pairs(dataset, count, seed)
    images = torch.cat([batch.x1, batch.x2])
    codes, strands = model.encode(images), model.strands
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        noise = model.method.sample_prior(len(images)).cpu()
    shown = {"": images, " decoded": model.decode(codes)}
    if isinstance(model.method, SwapsPairs):
        shown[" after the swap"] = model.decode(_swapped(model.method, batch, codes))
    for strand in (predictive, nuisance):
        shown[f", noise for {strand}"] = model.decode(strands.swap(codes, noise, strand)[0])
    rows = [
        Row(f"{image}{change}", decoded)
        for change, both in shown.items()
        for image, decoded in zip(("image", "partner"), both.chunk(2), strict=True)
    ]
    swap = "After the swap of Eq. 5 an image should be as it was. " if " after the swap" in shown else ""
    caption = (
        f"Pairs of one class. {swap}With noise for {predictive}, an image should keep only its colors; with noise for "
        f"{nuisance}, only its class."
    )
    return Figure(tuple(rows), caption=caption)


class DimChanges(NamedTuple):
    """Mean change of each dimension when one factor changes; 1 is the mean difference of two random observations."""

    factors: tuple[str, ...]
    change: Float[np.ndarray, "k d"]


def dim_changes(model: Model, dataset: Dataset, *, count: int = 256, seed: int = 0) -> DimChanges:
    """Mean difference per dimension between observations that differ in one factor only (Figs. 6 and 7).

    In a dataset with instances, the class changes together with the instance.
    """
    tables = dataset.to("cpu")
    if tables.factor_space is None:
        raise ValueError(f"{dataset.name} has no known factors, which this chart needs.")
    generator = Generator().manual_seed(seed)
    rows = tables.sample_indices(16 * count, generator)
    values = tables.factors(rows)
    assert values is not None
    scale = _distance(model, tables, values[:count], values[torch.randperm(count, generator=generator)])
    scale = np.where(scale > INACTIVE, scale, np.inf)
    changes: dict[str, np.ndarray] = {}
    for column, name in enumerate(tables.factor_space.names):
        if name == tables.instance or len(tables.factor_space.observed_values[column]) < 2:
            continue
        changed = _changed(tables, values, name, generator)
        usable = (changed != values).any(1)
        if not callable(tables.source):  # only stored combinations can be shown
            usable &= tables.factor_space.weight(tables.factor_space.index(changed)) > 0
        first, second = values[usable][:count], changed[usable][:count]
        if len(first) >= MIN_PAIRS:
            changes[name] = _distance(model, tables, first, second) / scale
    if not changes:
        raise ValueError(
            f"{dataset.name} has no {MIN_PAIRS} pairs of observations that differ in one factor only."
        )
    return DimChanges(tuple(changes), np.stack(list(changes.values())))


class StrandMaps(NamedTuple):
    """t-SNE coordinates of strands, with the value of one factor at each point."""

    points: dict[str, Float[np.ndarray, "n 2"]]
    factor: str
    values: np.ndarray  # value names if the factor has them


def strand_maps(
    model: Model,
    dataset: Dataset,
    *,
    strands: Sequence[str] | None = None,
    factor: str | None = None,
    count: int = 400,
    seed: int = 0,
) -> StrandMaps:
    """t-SNE of each strand (Fig. 5).

    The default is every innermost strand. The default factor is the first hidden nuisance, otherwise the first known
    nuisance, otherwise the class.
    """
    from sklearn.manifold import TSNE

    tables = dataset.to("cpu")
    roles = (*tables.hidden_nuisances, *tables.nuisances, tables.label)
    factor = next((role for role in roles if role is not None), None) if factor is None else factor
    if tables.factor_space is None or factor is None:
        raise ValueError(
            f"{dataset.name} has no nuisance and no class to color the points by. Pass factor=…."
        )
    rows = tables.sample_indices(count, Generator().manual_seed(seed))
    numbers = tables.factor_space.values(rows if tables.combinations is None else tables.combinations[rows])
    codes = model.encode(tables.observe(rows))
    points = {}
    for strand in innermost_strands(model.strands) if strands is None else strands:
        part = model.strands.take(codes, strand).numpy()
        tsne = TSNE(
            perplexity=min(30.0, count / 4), init="pca" if part.shape[1] > 1 else "random", random_state=seed
        )
        points[strand] = tsne.fit_transform(part)
    values = numbers[:, tables.factor_space.column(factor)].numpy()
    names = tables.value_names.get(factor)
    return StrandMaps(points, factor, values if names is None else np.asarray(names)[values])


def _pairs(dataset: Dataset, count: int, seed: int) -> PairBatch:
    draw, tables = PairDraw(same_class=True), dataset.to("cpu")
    draw.check(tables)
    return draw(tables, count, Generator().manual_seed(seed), torch.zeros((), dtype=torch.long))


@torch.no_grad()
def _swapped(method: SwapsPairs, batch: PairBatch, codes: Codes) -> Codes:
    """The codes of both images after the method's swap (Eq. 5)."""
    device = method.step.device  # type: ignore[attr-defined]
    q_l, q_m = (method.posterior(x.to(device)) for x in (batch.x1, batch.x2))
    mask = method.swap_mask(q_l, q_m, batch.k.to(device)).cpu()
    z_l, z_m = codes.chunk(2)
    return torch.cat(swap_where(z_l, z_m, mask))


def _changed(tables: Dataset, values: Factors, name: str, generator: Generator) -> Factors:
    """The values with one factor changed to another of its values."""
    space = tables.factor_space
    assert space is not None
    column, changed = space.column(name), values.clone()
    if name == tables.label and tables.instance is not None:
        others = values[torch.randperm(len(values), generator=generator)]
        moved = (others[:, column] != values[:, column])[:, None]
        columns = torch.tensor([column, space.column(tables.instance)])
        changed[:, columns] = torch.where(moved, others, values)[:, columns]
        return changed
    fresh = space.redraw(values, torch.rand(values.shape, generator=generator), other=True)
    changed[:, column] = fresh[:, column]
    return changed


def _distance(model: Model, tables: Dataset, first: Factors, second: Factors) -> Float[np.ndarray, " d"]:
    """Mean difference per dimension between two lists of observations, given by their factors."""
    return (
        (model.encode(_observe(tables, first)) - model.encode(_observe(tables, second))).abs().mean(0).numpy()
    )


def _observe(tables: Dataset, values: Factors) -> Tensor:
    assert tables.factor_space is not None
    if callable(tables.source):  # a renderer shows any combination of factors
        return tables.source(values).float() / tables.max_value
    return tables.observe(tables.indices_of(tables.factor_space.index(values), Generator().manual_seed(0)))
