"""MNIST/STL-10: handwritten digits on photographs, in pairs that share two of three factors.

Burns et al., 2021, Unsupervised Disentanglement without Autoencoding, Sec. 3.1 and App. A.1. The 28×28 digit is at
one of eight locations of a 64×64 photograph; each pixel is the maximum of both. Two views of a pair share the classes
of two factors, not the instances: each view has its own digit and its own photograph.
"""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Int, UInt8
from torch import Generator, Tensor
from torch.nn import functional as F

from unbraid.data.backgrounds import SIDE, BackgroundSource, read_backgrounds, resolve_backgrounds
from unbraid.data.dataset import Dataset
from unbraid.data.factors import FactorSpace
from unbraid.data.mnist import Digits, digits_license, read_digits, resolve_source
from unbraid.data.mnist import Split as MNISTSplit
from unbraid.data.root import data_root
from unbraid.seeds import derive_seed

Variant = Literal["dc-bc", "dc-dl", "bc-dl"]
Split = Literal["train", "validation", "test"]
# The factors of each variant: the two that a pair shares, then the one in which it differs.
FACTOR_ORDER: dict[str, tuple[str, str, str]] = {
    "dc-bc": ("digit", "background", "location"),
    "dc-dl": ("digit", "location", "background"),
    "bc-dl": ("background", "location", "digit"),
}
SIZES = {"digit": 10, "background": 10, "location": 8}
DIGIT_SIDE = 28  # in pixels
# The upper left corners of the digits: two rows of four, with the digit inside the image (Fig. 1).
TOPS, LEFTS = (2, 34), (0, 12, 24, 36)
NUM_PAIRS = {"train": 100_000, "validation": 10_000, "test": 10_000}


def mnist_stl10(
    root: Path | None = None,
    *,
    variant: Variant = "dc-bc",
    split: Split = "train",
    pairs: int = 0,
    digits: Digits = "auto",
    backgrounds: BackgroundSource = "auto",
    image_size: int = 64,
) -> Dataset:
    """Handwritten digits on photographs, in pairs that share two of three factors (MNIST/STL-10).

    The pairs are drawn once and stored as a table; images are composed on demand. Splits share neither digits nor
    photographs: the last tenth of both is for testing, the tenth before it for validation.

    Args:
        root: Data root; default: `$UNBRAID_DATA`, otherwise `~/.cache/unbraid`.
        variant: Factors that the views of a pair share: digit and background class (`dc-bc`), digit class and location
            (`dc-dl`), or background class and location (`bc-dl`). The third factor always differs.
        split: Pairs for training (`train`), for choosing settings (`validation`), or for testing (`test`).
        pairs: Number of pairs; 0 for the paper's 100,000 for training and 10,000 in the other splits.
        digits: `mnist`, `bundled`, or `auto`: mnist if its files are present, otherwise bundled.
        backgrounds: `stl10`, `cifar10` (13,000 images, enlarged), `textures` (generated), or `auto`: the first of these
            that is present.
        image_size: Side of the images in pixels, 64 or 32.
    """
    check_choices(variant, split)
    if pairs < 0 or image_size not in (SIDE, SIDE // 2):
        raise ValueError(
            f"pairs must be at least 0, and image_size {SIDE} or {SIDE // 2}; got {pairs}, {image_size}."
        )
    sources = resolve_source(digits, root), resolve_backgrounds(backgrounds, root)
    pool, class_names, images_hash = _image_pool(data_root(root), split, *sources)
    order, count = FACTOR_ORDER[variant], pairs or NUM_PAIRS[split]
    table = draw_pairs(
        pool, order, count, Generator().manual_seed(derive_seed(0, f"{variant} {split} pairs"))
    )
    space = FactorSpace({name: SIZES[name] for name in order} | {"pair": count})
    pair_index = torch.arange(count)[:, None, None].expand(-1, 2, 1)
    values = torch.cat([table.values, pair_index], 2).flatten(0, 1)
    return Dataset(
        OverlayRenderer(
            pool, table, order, half_size=image_size != SIDE, content_hash=f"{images_hash} {_digest(*table)}"
        ),
        name="-".join(["mnist-stl10", variant, *sources, split]),
        factor_space=space,
        combinations=space.index(values),
        label=order[0],
        instance="pair",
        value_names={"background": class_names},
        unordered=("digit", "background"),
        license=digits_license(sources[0], photographs=sources[1] != "textures"),
    )


@lru_cache(maxsize=4)
def _image_pool(
    root: Path, split: Split, digits: Digits, backgrounds: BackgroundSource
) -> tuple["ImagePool", tuple[str, ...], str]:
    """The images of a split, the names of the background classes, and a hash of the images.

    Cached, because every run of a study opens the dataset.
    """
    digit_sets = [read_digits(root, split=each, digits=digits) for each in get_args(MNISTSplit)]
    photographs = read_backgrounds(backgrounds, root)
    pool = ImagePool.of(
        _split_rows(torch.cat([images for images, _ in digit_sets]), split),
        _split_rows(torch.cat([labels for _, labels in digit_sets]), split),
        _split_rows(photographs.images, split),
        _split_rows(photographs.labels, split),
    )
    return pool, photographs.class_names, _digest(*pool)


def check_choices(variant: str, split: str) -> None:
    """Raises unless the variant and the split exist."""
    if variant not in get_args(Variant):
        raise ValueError(f"variant must be {', '.join(get_args(Variant))}; got {variant!r}.")
    if split not in get_args(Split):
        raise ValueError(f"split must be {', '.join(get_args(Split))}; got split={split!r}.")


class ImagePool(NamedTuple):
    """Digits and backgrounds with indices by class."""

    digits: UInt8[Tensor, "d 28 28"]
    digit_order: Int[Tensor, " d"]  # indices sorted by class
    digit_counts: Int[Tensor, " 10"]
    backgrounds: UInt8[Tensor, "g 3 64 64"]
    background_order: Int[Tensor, " g"]
    background_counts: Int[Tensor, " 10"]

    @classmethod
    def of(cls, digits: Tensor, digit_labels: Tensor, backgrounds: Tensor, labels: Tensor) -> "ImagePool":
        """A pool of images with their classes; every class must occur."""
        tables: list[tuple[Tensor, Tensor]] = []
        for factor, classes in (("digit", digit_labels), ("background", labels)):
            counts = torch.bincount(classes, minlength=SIZES[factor])
            if len(counts) != SIZES[factor] or not bool(counts.all()):
                raise ValueError(
                    f"Each of the {SIZES[factor]} {factor} classes must occur; got {counts.tolist()} images."
                )
            tables.append((classes.argsort(stable=True), counts))
        (digit_order, digit_counts), (order, counts) = tables
        return cls(digits, digit_order, digit_counts, backgrounds, order, counts)

    def sample_of_class(
        self, factor: str, classes: Int[Tensor, "..."], generator: Generator
    ) -> Int[Tensor, "..."]:
        """The index of a random image of each given class; all images of a class are equally likely."""
        order, counts = (
            (self.digit_order, self.digit_counts)
            if factor == "digit"
            else (self.background_order, self.background_counts)
        )
        u = torch.rand(classes.shape, generator=generator, device=generator.device)
        rank = (u * counts[classes]).long()
        return order[(counts.cumsum(0) - counts)[classes] + rank]

    def to(self, device: torch.device | str) -> "ImagePool":
        return ImagePool(*(tensor.to(device) for tensor in self))


class PairTable(NamedTuple):
    """Pairs of views: factor values, digit and background of each view."""

    values: Int[Tensor, "p 2 3"]  # in the variant's order
    digits: Int[Tensor, "p 2"]
    backgrounds: Int[Tensor, "p 2"]

    def to(self, device: torch.device | str) -> "PairTable":
        return PairTable(*(tensor.to(device) for tensor in self))


def draw_pairs(pool: ImagePool, order: tuple[str, str, str], count: int, generator: Generator) -> PairTable:
    """Pairs with uniform factor values that share the first two factors and differ in the third."""
    u = torch.rand(count, 4, generator=generator, device=generator.device)
    first, second, varied = ((u[:, index] * SIZES[name]).long() for index, name in enumerate(order))
    size = SIZES[order[2]]
    other = (varied + 1 + (u[:, 3] * (size - 1)).long()) % size
    views = [torch.stack([first, second, value], 1) for value in (varied, other)]
    values = torch.stack(views, 1)
    digits = pool.sample_of_class("digit", values[:, :, order.index("digit")], generator)
    backgrounds = pool.sample_of_class("background", values[:, :, order.index("background")], generator)
    return PairTable(values, digits, backgrounds)


class OverlayRenderer:
    """Composes the images of a table of pairs on the device of the image pool.

    The factor values are the three factors in the variant's order, then the pair. The third factor, in which the views
    of a pair differ, identifies the view.
    """

    def __init__(
        self,
        pool: ImagePool,
        table: PairTable,
        order: tuple[str, str, str],
        *,
        half_size: bool = False,
        content_hash: str = "",
    ) -> None:
        self.pool, self.table, self.order, self.half_size = pool, table, order, half_size
        self.content_hash = content_hash or _digest(*pool, *table)
        device = pool.digits.device
        steps = torch.arange(DIGIT_SIDE, device=device)
        corners = torch.tensor([(top, left) for top in TOPS for left in LEFTS], device=device)
        rows, columns = corners[:, :1] + steps, corners[:, 1:] + steps
        self._pixels = (rows[:, :, None] * SIDE + columns[:, None, :]).flatten(1)  # (8, 28 · 28)

    @property
    def shape(self) -> tuple[int, int, int]:
        side = SIDE // 2 if self.half_size else SIDE
        return (3, side, side)

    @property
    def shared(self) -> tuple[str, str]:
        """The factors that the views of a pair share."""
        return self.order[:2]

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in (*self.pool, *self.table))

    def to(self, device: torch.device | str) -> "OverlayRenderer":
        """The renderer with its images and tables on a device."""
        return OverlayRenderer(
            self.pool.to(device),
            self.table.to(device),
            self.order,
            half_size=self.half_size,
            content_hash=self.content_hash,
        )

    def __call__(self, values: Int[Tensor, "n k"]) -> UInt8[Tensor, "n 3 h w"]:
        local = values.to(self.pool.digits.device)
        pair = local[:, 3]
        second = (local[:, 2] != self.table.values[pair, 0, 2]).long()
        location = local[:, self.order.index("location")]
        digit, background = self.table.digits[pair, second], self.table.backgrounds[pair, second]
        return self.compose(digit, background, location).to(values.device)

    def sample_pairs(self, size: int, generator: Generator) -> tuple[PairTable, UInt8[Tensor, "n 2 3 h w"]]:
        """New random pairs and their images."""
        table = draw_pairs(self.pool, self.order, size, generator)
        location = table.values[:, :, self.order.index("location")]
        images = self.compose(table.digits.flatten(), table.backgrounds.flatten(), location.flatten())
        return table, images.unflatten(0, (size, 2))

    def compose(
        self, digits: Int[Tensor, " n"], backgrounds: Int[Tensor, " n"], locations: Int[Tensor, " n"]
    ) -> UInt8[Tensor, "n 3 h w"]:
        """Digits over backgrounds: each pixel is the maximum of both."""
        background = self.pool.backgrounds.index_select(0, backgrounds)
        digit_pixels = self.pool.digits.index_select(0, digits).flatten(1)
        layer = torch.zeros(len(digits), SIDE**2, dtype=torch.uint8, device=digit_pixels.device)
        layer = layer.scatter(1, self._pixels[locations], digit_pixels).view(-1, 1, SIDE, SIDE)
        images = torch.maximum(background, layer)
        return F.avg_pool2d(images.float(), 2).round().to(torch.uint8) if self.half_size else images

    def __repr__(self) -> str:  # identifies the images, for the dataset's fingerprint
        return f"OverlayRenderer({self.content_hash}, {', '.join(self.order)}, {self.shape[1]})"


def _split_rows(rows: Tensor, split: Split) -> Tensor:
    """The rows of a split: the first 80 % for training, then 10 % for validation and 10 % for testing."""
    first, last = len(rows) * 8 // 10, len(rows) * 9 // 10
    return rows[{"train": slice(first), "validation": slice(first, last), "test": slice(last, None)}[split]]


def _digest(*tensors: Tensor) -> str:
    """SHA-256 of the contents of the tensors."""
    sha256 = hashlib.sha256()
    for tensor in tensors:
        sha256.update(tensor.cpu().numpy().tobytes())
    return sha256.hexdigest()
