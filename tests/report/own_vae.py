"""Somebody's own method, dataset and figure, for the tests of reports and explorers."""

import torch
from torch import Tensor, nn

from unbraid import Dataset, FactorSpace, Method, Strands
from unbraid.report import Figure, Row
from unbraid.runs import Model
from unbraid.types import Batch, Terms


class OwnAutoencoder(Method[Batch]):
    """A plain autoencoder with figures of its own.

    Args:
        encoder: Network from observations to codes.
        decoder: Network from codes to logits of pixels.
        weight: Weight of the squared error.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, *, weight: float = 1.0) -> None:
        super().__init__()
        self.encoder, self.decoder, self.weight = encoder, decoder, weight

    @property
    def strands(self) -> Strands:
        return Strands.from_sizes(codes=self.encoder.latent_dim)

    def loss(self, batch: Batch) -> Terms:
        error = (self.decode(self.encode(batch.x)) - batch.x).square().sum() / len(batch.x)
        return Terms(self.weight * error, {"error": error})

    def encode(self, x: Tensor, condition: Tensor | None = None) -> Tensor:
        return self.encoder(x).mean

    def decode(self, codes: Tensor, condition: Tensor | None = None) -> Tensor:
        return self.decoder(codes).sigmoid()

    def figures(self) -> tuple[object, ...]:
        return ("reconstructions", sorted_images)


class OwnEncoder(Method[Batch]):
    """A method without a decoder."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    @property
    def strands(self) -> Strands:
        return Strands.from_sizes(codes=self.encoder.latent_dim)

    def loss(self, batch: Batch) -> Terms:
        return Terms(self.encode(batch.x).square().mean(), {})

    def encode(self, x: Tensor, condition: Tensor | None = None) -> Tensor:
        return self.encoder(x).mean


def sorted_images(model: Model, dataset: Dataset) -> Figure:
    """Images sorted by their first dimension."""
    x = dataset.observe(dataset.indices()[:40])
    return Figure((Row("images", x[model.encode(x)[:, 0].argsort()][::8]),), caption="Lowest code first.")


def code_row(model: Model, dataset: Dataset) -> Figure:
    """Codes as gray values."""
    codes = model.encode(dataset.observe(dataset.indices()[:8]))
    return Figure((Row("codes", codes.sigmoid()[:, None, None, :].expand(-1, 1, 4, -1)),))


def bars(*, image_size: int = 16, level: int = 200) -> Dataset:
    """Bars at several positions.

    Args:
        image_size: Side of the images in pixels.
        level: Brightness of the bars.
    """
    space = FactorSpace({"position": 8, "width": 5})
    position, width = space.values(torch.arange(40)).T[:, :, None]
    columns = torch.arange(image_size)
    inside = (columns >= position) & (columns <= position + width)
    images = (level * inside).to(torch.uint8)[:, None, None].expand(-1, 1, image_size, -1).contiguous()
    return Dataset(images, name="bars", factor_space=space)
