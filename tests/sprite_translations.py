"""Images of sprites to translate into others: easily, less easily, and not at all."""

from functools import cache

import torch
from torch import Tensor

from unbraid.data import Dataset
from unbraid.data.sprites import sprites


@cache
def dataset() -> Dataset:
    return sprites()


def rendered(values: Tensor) -> Tensor:
    """Images of these factors, in [0, 1]."""
    return dataset().source(values).float() / 255  # type: ignore[operator]


def translation(kind: str, *, seed: int, size: int = 64) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Two sets of sources and their targets.

    `kind` is a factor that has one value in the sources and another in the targets, `pos_x*scale` (two codes, each of
    which moves both of these factors), `same` or `unrelated`.
    """
    space, generator = dataset().factor_space, torch.Generator().manual_seed(seed)
    assert space is not None

    def drawn() -> Tensor:
        return space.values(space.draw(size, generator))

    def setting(values: Tensor, value: int) -> Tensor:
        values = values.clone()
        if kind in space.names:
            values[:, space.column(kind)] = value
        elif kind == "pos_x*scale":
            x, scale, other = space.column("pos_x"), space.column("scale"), values[:, space.column("pos_x")]
            values[:, x], values[:, scale] = (value + other) % 32, (value - other) % 32 * 6 // 32
        return values

    sizes = dict(zip(space.names, space.sizes, strict=True))
    a, b = torch.randperm(sizes.get(kind, 32), generator=generator)[:2].tolist()
    images = []
    for _ in range(2):
        source = drawn()
        target = drawn() if kind == "unrelated" else source
        images += [rendered(setting(source, a)), rendered(setting(target, b))]
    return images[0], images[1], images[2], images[3]
