"""What each strand of a code holds: pictures with a strand exchanged or replaced by noise, how far codes move when
one factor changes, and maps of strands. Figures 5 to 8 of Reconstruction for Disentanglement, Contrast for
Invariance, 2022.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.data.draws import Pairs
from unbraid.model import Model
from unbraid.report.figures import Figure, Row
from unbraid.types import Factors, Observations

STILL = (
    0.02  # a code that differs by less between two observations, on average, is shown as one that never moves
)
FEWEST = 8  # pairs that a factor needs to be shown


def strand_edits(
    model: Model,
    dataset: Dataset,
    *,
    predictive: str = "predictive",
    nuisance: str = "nuisance",
    count: int = 8,
    seed: int = 0,
) -> Figure:
    """Images decoded again with the nuisances of a partner, and with noise in the place of each strand (Fig. 8)."""
    x, partners = _pairs(dataset, count, seed)
    codes, strands = model.encode(x), model.strands
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        noise = model.method.prior(count).cpu()
    rows = [
        Row("original", x),
        Row("partner", partners),
        Row("decoded", model.decode(codes)),
        Row(f"{nuisance} of partner", model.decode(strands.swap(codes, model.encode(partners), nuisance)[0])),
        Row(f"noise for {predictive}", model.decode(strands.swap(codes, noise, predictive)[0])),
        Row(f"noise for {nuisance}", model.decode(strands.swap(codes, noise, nuisance)[0])),
    ]
    caption = (
        f"With the {nuisance} strand of its partner an image should take on the partner's colours and keep its class; "
        f"with noise for {predictive} it should keep its colours alone; with noise for {nuisance}, its class alone."
    )
    return Figure(tuple(rows), caption=caption)


class CodeChanges(NamedTuple):
    """How far each code moves when one factor changes; 1 is as far as between two observations drawn at random."""

    factors: tuple[str, ...]
    change: Float[np.ndarray, "k d"]


def code_changes(model: Model, dataset: Dataset, *, count: int = 256, seed: int = 0) -> CodeChanges:
    """The mean distance of each code between observations that differ in one factor alone (Figs. 6 and 7).

    Where rows show instances, the class changes by taking another instance.
    """
    tables = dataset.to("cpu")
    if tables.space is None:
        raise ValueError(f"{dataset.name} has no known factors whose change could be shown.")
    generator = Generator().manual_seed(seed)
    rows = tables.draw(16 * count, generator)
    values = tables.factors(rows)
    assert values is not None
    scale = _distance(model, tables, values[:count], values[torch.randperm(count, generator=generator)])
    scale = np.where(scale > STILL, scale, np.inf)
    found: dict[str, np.ndarray] = {}
    for column, name in enumerate(tables.space.names):
        if name == tables.instance or len(tables.space.occurring[column]) < 2:
            continue
        changed = _changed(tables, values, name, generator)
        usable = (changed != values).any(1)
        if not callable(tables.source):  # only what is stored can be seen
            usable &= tables.space.weight(tables.space.index(changed)) > 0
        first, second = values[usable][:count], changed[usable][:count]
        if len(first) >= FEWEST:
            found[name] = _distance(model, tables, first, second) / scale
    if not found:
        raise ValueError(f"{dataset.name} shows no two observations that differ in one factor alone.")
    return CodeChanges(tuple(found), np.stack(list(found.values())))


class StrandMaps(NamedTuple):
    """Strands laid out on a plane, with the value of one factor at each point."""

    points: dict[str, Float[np.ndarray, "n 2"]]
    factor: str
    values: np.ndarray  # by name where they have names


def strand_maps(
    model: Model,
    dataset: Dataset,
    *,
    strands: Sequence[str] | None = None,
    factor: str | None = None,
    count: int = 400,
    seed: int = 0,
) -> StrandMaps:
    """A t-SNE map of each strand (Fig. 5).

    The strands are by default those that no other one lies within, and the factor the first unknown nuisance, or
    the first known one, or the class.
    """
    from sklearn.manifold import TSNE

    tables = dataset.to("cpu")
    roles = (*tables.unknown, *tables.nuisances, tables.label)
    factor = next((role for role in roles if role is not None), None) if factor is None else factor
    if tables.space is None or factor is None:
        raise ValueError(f"{dataset.name} names no nuisance or class to colour a map by: give a factor.")
    rows = tables.draw(count, Generator().manual_seed(seed))
    numbers = tables.space.values(rows if tables.combinations is None else tables.combinations[rows])
    codes = model.encode(tables.observe(rows))
    points = {}
    for strand in leaves(model.strands) if strands is None else strands:
        part = model.strands.take(codes, strand).numpy()
        tsne = TSNE(
            perplexity=min(30.0, count / 4), init="pca" if part.shape[1] > 1 else "random", random_state=seed
        )
        points[strand] = tsne.fit_transform(part)
    values = numbers[:, tables.space.column(factor)].numpy()
    names = tables.value_names.get(factor)
    return StrandMaps(points, factor, values if names is None else np.asarray(names)[values])


def leaves(strands: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """The strands that no other one lies within."""
    return tuple(
        name
        for name, part in strands.items()
        if not any(set(other) < set(part) for other in strands.values())
    )


def _pairs(dataset: Dataset, count: int, seed: int) -> tuple[Observations, Observations]:
    draw, tables = Pairs(same_class=True), dataset.to("cpu")
    draw.check(tables)
    batch = draw(tables, count, Generator().manual_seed(seed), torch.zeros((), dtype=torch.long))
    return batch.x1, batch.x2


def _changed(tables: Dataset, values: Factors, name: str, generator: Generator) -> Factors:
    """The values with one factor changed to another of its values."""
    space = tables.space
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
    """The mean distance of each code between two lists of observations given by their factors."""
    return (model.encode(_seen(tables, first)) - model.encode(_seen(tables, second))).abs().mean(0).numpy()


def _seen(tables: Dataset, values: Factors) -> Tensor:
    assert tables.space is not None
    if callable(tables.source):  # a renderer shows any combination, whether it is in the dataset or not
        return tables.source(values).float() / tables.white
    return tables.observe(tables.find(tables.space.index(values), Generator().manual_seed(0)))
