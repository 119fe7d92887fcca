"""MNIST/STL-10: written digits on photographs, in pairs that share two of three factors.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, Sec. 3.1 and App. A.1. The 28×28 digit lies at
one of eight places of a 64×64 picture, by the larger of both at each pixel. Two views of a pair share the classes of
two factors, not the instances: each has its own digit and its own photograph.
"""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Int, UInt8
from torch import Generator, Tensor
from torch.nn import functional as F

from unbraid.data.backgrounds import SIDE, Kind, read_backgrounds, which_backgrounds
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import Digits, read_digits, which
from unbraid.data.mnist import Part as PartOfMnist
from unbraid.data.root import data_root
from unbraid.seeds import derive

Variant = Literal["dc-bc", "dc-dl", "bc-dl"]
Part = Literal["train", "validation", "test"]
# The factors of each variant: the two that a pair shares, then the one in which it differs.
ORDER: dict[str, tuple[str, str, str]] = {
    "dc-bc": ("digit", "background", "location"),
    "dc-dl": ("digit", "location", "background"),
    "bc-dl": ("background", "location", "digit"),
}
SIZES = {"digit": 10, "background": 10, "location": 8}
DIGIT = 28
# Where a digit's upper left corner lies: two rows of four, all of the digit within the picture (Fig. 1).
TOPS, LEFTS = (2, 34), (0, 12, 24, 36)
PAIRS = {"train": 100_000, "validation": 10_000, "test": 10_000}


def mnist_stl10(
    root: Path | None = None,
    *,
    variant: Variant = "dc-bc",
    part: Part = "train",
    pairs: int = 0,
    digits: Digits = "auto",
    backgrounds: Kind = "auto",
    size: int = 64,
) -> Dataset:
    """Written digits on photographs, in pairs that share two of digit, background and location (MNIST/STL-10).

    The pairs are drawn once and kept as a table; pictures are put together where and when they are needed. The
    parts have digits and photographs of their own: the last tenth of each tests, the tenth before it validates.

    Args:
        root: The data root; `UNBRAID_DATA` or the user's cache folder by default.
        variant: What the views of a pair share: digit and background class (`dc-bc`), digit class and location
            (`dc-dl`), or background class and location (`bc-dl`). The third factor always differs.
        part: The pairs to train on, to choose settings by (`validation`), or to test on.
        pairs: How many; 0 for the paper's 100,000, or 10,000 in the other parts.
        digits: `mnist`, `bundled`, or `auto`: mnist where its files are, bundled otherwise.
        backgrounds: `stl10`, `cifar10` (13,000 of them, enlarged), `textures` (made here), or `auto`: the first of
            them that is here.
        size: Side of the picture in pixels: 64, or 32 for the same at half the size.
    """
    require_choices(variant, part)
    if pairs < 0 or size not in (SIDE, SIDE // 2):
        raise ValueError(
            f"The number of pairs may not be below 0, and the size is {SIDE} or {SIDE // 2}; got {pairs}, {size}."
        )
    here = which(digits, root), which_backgrounds(backgrounds, root)
    stock, class_names, content = _stock(data_root(root), part, *here)
    order, count = ORDER[variant], pairs or PAIRS[part]
    table = draw_pairs(stock, order, count, Generator().manual_seed(derive(0, f"{variant} {part} pairs")))
    space = FactorSpace({name: SIZES[name] for name in order} | {"pair": count})
    numbers = torch.arange(count)[:, None, None].expand(-1, 2, 1)
    values = torch.cat([table.values, numbers], 2).flatten(0, 1)
    return Dataset(
        OverlayRenderer(stock, table, order, halved=size != SIDE, content=f"{content} {_digest(*table)}"),
        name="-".join(["mnist-stl10", variant, *here, part]),
        space=space,
        combinations=space.index(values),
        label=order[0],
        instance="pair",
        value_names={"background": class_names},
    )


@lru_cache(maxsize=4)
def _stock(root: Path, part: Part, digits: Digits, backgrounds: Kind) -> tuple["Stock", tuple[str, ...], str]:
    """The pictures of a part, the names of the backgrounds' classes, and a digest; kept, since a study opens them
    again and again."""
    written = [read_digits(root, part=half, digits=digits) for half in get_args(PartOfMnist)]
    behind = read_backgrounds(backgrounds, root)
    stock = Stock.of(
        _tenths(torch.cat([images for images, _ in written]), part),
        _tenths(torch.cat([labels for _, labels in written]), part),
        _tenths(behind.images, part),
        _tenths(behind.labels, part),
    )
    return stock, behind.class_names, _digest(*stock)


def require_choices(variant: str, part: str) -> None:
    """Raises unless there are such a variant and such a part."""
    if variant not in get_args(Variant):
        raise ValueError(
            f"A variant names the two factors that a pair shares: {', '.join(get_args(Variant))}; got {variant!r}."
        )
    if part not in get_args(Part):
        raise ValueError(f"The pairs come in the parts {', '.join(get_args(Part))}; got part={part!r}.")


class Stock(NamedTuple):
    """The pictures to choose from, and by class where they are."""

    digits: UInt8[Tensor, "d 28 28"]
    digit_order: Int[Tensor, " d"]  # their numbers, class by class
    digit_counts: Int[Tensor, " 10"]
    backgrounds: UInt8[Tensor, "g 3 64 64"]
    background_order: Int[Tensor, " g"]
    background_counts: Int[Tensor, " 10"]

    @classmethod
    def of(cls, digits: Tensor, digit_labels: Tensor, backgrounds: Tensor, labels: Tensor) -> "Stock":
        """From pictures and their classes, each of which must occur."""
        tables: list[tuple[Tensor, Tensor]] = []
        for what, classes in (("digit", digit_labels), ("background", labels)):
            counts = torch.bincount(classes, minlength=SIZES[what])
            if len(counts) != SIZES[what] or not bool(counts.all()):
                raise ValueError(
                    f"Each of the {SIZES[what]} {what} classes must occur; got {counts.tolist()} pictures."
                )
            tables.append((classes.argsort(stable=True), counts))
        (digit_order, digit_counts), (order, counts) = tables
        return cls(digits, digit_order, digit_counts, backgrounds, order, counts)

    def pick(self, what: str, classes: Int[Tensor, "..."], generator: Generator) -> Int[Tensor, "..."]:
        """The number of a picture of each class, all of a class equally likely."""
        order, counts = (
            (self.digit_order, self.digit_counts)
            if what == "digit"
            else (self.background_order, self.background_counts)
        )
        u = torch.rand(classes.shape, generator=generator, device=generator.device)
        within = (u * counts[classes]).long()
        return order[(counts.cumsum(0) - counts)[classes] + within]

    def to(self, device: torch.device | str) -> "Stock":
        return Stock(*(tensor.to(device) for tensor in self))


class PairTable(NamedTuple):
    """Pairs of views: their factor values, and which digit and which background each shows."""

    values: Int[Tensor, "p 2 3"]  # in the variant's order
    digits: Int[Tensor, "p 2"]
    backgrounds: Int[Tensor, "p 2"]

    def to(self, device: torch.device | str) -> "PairTable":
        return PairTable(*(tensor.to(device) for tensor in self))


def draw_pairs(stock: Stock, order: tuple[str, str, str], count: int, generator: Generator) -> PairTable:
    """Pairs with uniform factor values that share the first two factors and differ in the third."""
    u = torch.rand(count, 4, generator=generator, device=generator.device)
    first, second, varied = ((u[:, place] * SIZES[name]).long() for place, name in enumerate(order))
    most = SIZES[order[2]]
    other = (varied + 1 + (u[:, 3] * (most - 1)).long()) % most
    views = [torch.stack([first, second, value], 1) for value in (varied, other)]
    values = torch.stack(views, 1)
    digits = stock.pick("digit", values[:, :, order.index("digit")], generator)
    backgrounds = stock.pick("background", values[:, :, order.index("background")], generator)
    return PairTable(values, digits, backgrounds)


class OverlayRenderer:
    """Pictures of the views of a table of pairs, put together on the device of the stock.

    Values are those of the three factors in the variant's order, then the pair; which of its two views is meant
    shows in the third factor, in which they differ.
    """

    def __init__(
        self,
        stock: Stock,
        table: PairTable,
        order: tuple[str, str, str],
        *,
        halved: bool = False,
        content: str = "",
    ) -> None:
        self.stock, self.table, self.order, self.halved = stock, table, order, halved
        self.content = content or _digest(*stock, *table)
        device = stock.digits.device
        steps = torch.arange(DIGIT, device=device)
        corners = torch.tensor([(top, left) for top in TOPS for left in LEFTS], device=device)
        rows, columns = corners[:, :1] + steps, corners[:, 1:] + steps
        self._places = (rows[:, :, None] * SIDE + columns[:, None, :]).flatten(1)  # (8, 28 · 28)

    @property
    def shape(self) -> tuple[int, int, int]:
        side = SIDE // 2 if self.halved else SIDE
        return (3, side, side)

    @property
    def shared(self) -> tuple[str, str]:
        """The factors that the views of a pair share."""
        return self.order[:2]

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in (*self.stock, *self.table))

    def to(self, device: torch.device | str) -> "OverlayRenderer":
        """The same with its pictures and tables on a device."""
        return OverlayRenderer(
            self.stock.to(device),
            self.table.to(device),
            self.order,
            halved=self.halved,
            content=self.content,
        )

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n 3 h w"]:
        here = values.to(self.stock.digits.device)
        pair = here[:, 3]
        second = (here[:, 2] != self.table.values[pair, 0, 2]).long()
        location = here[:, self.order.index("location")]
        chosen = self.table.digits[pair, second], self.table.backgrounds[pair, second]
        return self.compose(*chosen, location).to(values.device)

    def redraw(self, size: int, generator: Generator) -> tuple[PairTable, UInt8[Tensor, "n 2 3 h w"]]:
        """Pairs that nobody has seen, and their pictures."""
        table = draw_pairs(self.stock, self.order, size, generator)
        location = table.values[:, :, self.order.index("location")]
        pictures = self.compose(table.digits.flatten(), table.backgrounds.flatten(), location.flatten())
        return table, pictures.unflatten(0, (size, 2))

    def compose(
        self, digits: Int[Tensor, " n"], backgrounds: Int[Tensor, " n"], locations: Int[Tensor, " n"]
    ) -> UInt8[Tensor, "n 3 h w"]:
        """Digits laid over backgrounds: at each pixel the larger of both."""
        behind = self.stock.backgrounds.index_select(0, backgrounds)
        ink = self.stock.digits.index_select(0, digits).flatten(1)
        layer = torch.zeros(len(digits), SIDE**2, dtype=torch.uint8, device=ink.device)
        layer = layer.scatter(1, self._places[locations], ink).view(-1, 1, SIDE, SIDE)
        pictures = torch.maximum(behind, layer)
        return F.avg_pool2d(pictures.float(), 2).round().to(torch.uint8) if self.halved else pictures

    def __repr__(self) -> str:  # of all that decides the pictures, so that a run can tell its data apart
        return f"OverlayRenderer({self.content}, {', '.join(self.order)}, {self.shape[1]})"


def _tenths(rows: Tensor, part: Part) -> Tensor:
    """The first eight tenths for training, then one for validation and one for the test."""
    first, last = len(rows) * 8 // 10, len(rows) * 9 // 10
    return rows[{"train": slice(first), "validation": slice(first, last), "test": slice(last, None)}[part]]


def _digest(*tensors: Tensor) -> str:
    content = hashlib.sha256()
    for tensor in tensors:
        content.update(tensor.cpu().numpy().tobytes())
    return content.hexdigest()
