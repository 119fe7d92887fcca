"""What a trained model does to pictures: reconstructions, traversals, swapped strands.

Every figure is a function of a model and a dataset, and comes out the same each time.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Generator, Tensor

from unbraid.data.dataset import Dataset
from unbraid.metrics import kl_per_code
from unbraid.model import Model
from unbraid.report.sheets import image_sheet
from unbraid.types import Images, Observations

VALUES = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
ACTIVE = 0.01  # nats, or variance, that a code needs to be shown: the threshold of UDR and of active units
ROWS = 12  # at most, of a traversal


class Row(NamedTuple):
    """Images side by side, with what they are and a word more."""

    label: str
    images: Images
    note: str = ""
    marked: bool = False  # to look at first, in red


class Figure(NamedTuple):
    """Rows of images under common column labels."""

    rows: tuple[Row, ...]
    columns: tuple[str, ...] = ()
    caption: str = ""

    def sheet(self) -> Image.Image:
        """The figure as one picture."""
        rows = [(f"{row.label}  {row.note}".rstrip(), row.images) for row in self.rows]
        marked = [place for place, row in enumerate(self.rows) if row.marked]
        return image_sheet(rows, columns=self.columns or None, marked=marked)


class Activity(NamedTuple):
    """How much each code does: its KL where there is a posterior, else its variance."""

    amounts: Float[np.ndarray, " d"]
    unit: str  # nats or variance

    @property
    def order(self) -> list[int]:
        """The codes, busiest first."""
        return np.argsort(-self.amounts, kind="stable").tolist()

    @property
    def active(self) -> list[int]:
        """The codes that do something, busiest first; the busiest one at least."""
        order = self.order
        return [code for code in order if self.amounts[code] > ACTIVE] or order[:1]

    def of(self, code: int) -> str:
        """What one code does, in a word."""
        name = "KL" if self.unit == "nats" else "variance"
        return f"{name} {self.amounts[code]:.2f}"


def examples(dataset: Dataset, count: int, *, seed: int = 0) -> Observations:
    """A few observations, drawn alike every time."""
    tables = dataset.to("cpu")
    return tables.observe(tables.draw(count, Generator().manual_seed(seed)))


def conditions(model: Model, dataset: Dataset, count: int, *, seed: int = 0) -> Tensor | None:
    """What a conditional method is given with these examples, their known nuisances or labels; None for any other."""
    tables = dataset.to("cpu", observations=False)
    return model.method.given(
        *tables.roles(tables.factors(tables.draw(count, Generator().manual_seed(seed))))
    )


@torch.no_grad()
def activity(model: Model, x: Observations) -> Activity:
    """How much each code does on some observations."""
    posterior = getattr(model.method, "posterior", None)
    if posterior is None:
        return Activity(model.encode(x).numpy().var(0), "variance")
    mean, logvar = (part.cpu().numpy() for part in posterior(x.to(model.method.step.device)))
    return Activity(kl_per_code(mean, logvar).per_code, "nats")


def reconstructions(model: Model, dataset: Dataset, *, count: int = 10, seed: int = 0) -> Figure:
    """Some images above what is left of them after encoding and decoding."""
    x, given = examples(dataset, count, seed=seed), conditions(model, dataset, count, seed=seed)
    rows = Row("original", x), Row("decoded", model.reconstruct(x, given=given))
    return Figure(rows, caption="Images above what the model keeps of them.")


def traversals(
    model: Model,
    dataset: Dataset,
    *,
    images: Sequence[int] = (0,),
    codes: Sequence[int] | None = None,
    values: Sequence[float] = VALUES,
    seed: int = 0,
) -> Figure:
    """Images decoded with one code set to each value in turn and the others held, a row for each code.

    Args:
        model: A trained model with a decoder.
        dataset: Where the images come from.
        images: Which of the images drawn with the seed to start from; several give a row each.
        codes: The codes to move; by default those that do something, busiest first.
        values: Where to set them.
        seed: Of the images.
    """
    x, given = examples(dataset, 512, seed=seed), conditions(model, dataset, 512, seed=seed)
    given = None if given is None else given[list(images)]
    busy = activity(model, x)
    chosen = busy.active[:ROWS] if codes is None else list(codes)
    rows = []
    for code in chosen:
        swept = model.traverse(x[list(images)], code, values, given=given)
        label = f"code {code}"
        rows += [
            Row(label, swept[:, place], busy.of(code) if place == 0 else "") for place in range(len(images))
        ]
    caption = "Each row sets one code to the values above it and holds all others."
    if codes is None and (still := model.strands.size - len(chosen)):
        caption += f" {still} of {model.strands.size} codes " + (
            "carry next to nothing and are left out." if len(chosen) < ROWS else "are left out."
        )
    return Figure(tuple(rows), tuple(f"{value:g}".replace("-", "−") for value in values), caption)


def swaps(
    model: Model,
    dataset: Dataset,
    *,
    strands: Sequence[str | int] | None = None,
    count: int = 8,
    seed: int = 0,
) -> Figure:
    """Pairs of images, and the first of each with one strand of its code taken from the second.

    The strands are by default the method's own, or, where the code is all one strand, its busiest codes.
    """
    some = max(2 * count, 512)
    x, given = examples(dataset, some, seed=seed), conditions(model, dataset, some, seed=seed)
    a, b = x[:count], x[count : 2 * count]
    both = (None, None) if given is None else (given[:count], given[count : 2 * count])
    if strands is None:
        parts = [name for name, part in model.strands.items() if len(part) < model.strands.size]
        strands = parts or activity(model, x).active[:4]
    rows = [Row("a", a), Row("b", b)]
    for strand in strands:
        name = f"code {strand}" if isinstance(strand, int) else strand
        rows.append(Row(f"{name} of b", model.swap(a, b, strand, given=both)[0]))
    caption = "Columns are pairs. Below each, a decoded again with one part of its code taken from b."
    return Figure(tuple(rows), caption=caption)
