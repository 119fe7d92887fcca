"""A researcher's own method, dataset, draw, networks and metric, in one file outside the package."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor, nn

from unbraid import Dataset, FactorSpace, Method, Strands
from unbraid.objectives import bernoulli_nll
from unbraid.types import Batch, Gaussian, Terms


class DecorVAE(Method[Batch]):
    """VAE whose posterior means are decorrelated within a batch.

    Args:
        encoder: Network from observations to the posterior q(z|x).
        decoder: Network from codes to the logits of p(x|z).
        gamma: Weight of the squared correlations.
        noise: Standard deviation of noise on the means during training.
    """

    def __init__(
        self, encoder: nn.Module, decoder: nn.Module, *, gamma: float = 1.0, noise: float = 0.0
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.gamma, self.noise = encoder, decoder, gamma, noise

    @property
    def strands(self) -> Strands:
        return Strands.from_sizes(codes=self.encoder.latent_dim)

    def loss(self, batch: Batch) -> Terms:
        q = self.encoder(batch.x)
        mean = q.mean + self.noise * torch.randn_like(q.mean)
        z = mean + (0.5 * q.logvar).exp() * torch.randn_like(mean)
        nll = bernoulli_nll(self.decoder(z), batch.x)
        kl = 0.5 * (q.mean**2 + q.logvar.exp() - 1 - q.logvar).sum(1).mean()
        centered = mean - mean.mean(0)
        covariance = centered.T @ centered / len(mean)
        std = covariance.diagonal().clamp(min=1e-6).sqrt()
        correlation = (covariance / (std[:, None] * std)).square().sum() - len(std)
        return Terms(nll + kl + self.gamma * correlation, {"nll": nll, "kl": kl, "correlation": correlation})

    def encode(self, x: Tensor, condition: Tensor | None = None) -> Tensor:
        return self.encoder(x).mean

    def decode(self, codes: Tensor, condition: Tensor | None = None) -> Tensor:
        return self.decoder(codes).sigmoid()


def stripes(*, image_size: int = 28, noise: float = 0.0) -> Dataset:
    """Vertical stripes of several widths, positions and brightnesses.

    Args:
        image_size: Side of the images in pixels.
        noise: Standard deviation of the pixel noise.
    """
    space = FactorSpace({"width": 3, "position": 8, "brightness": 4})
    width, position, brightness = space.values(torch.arange(space.num_combinations)).T
    columns = torch.arange(image_size)
    start = position * image_size // 8
    inside = (columns >= start[:, None]) & (columns < (start + 2 * (width + 1))[:, None])
    rows = inside * (64 + 63 * brightness)[:, None]
    images = rows[:, None, None, :].expand(-1, 1, image_size, -1).float()
    images = images + 255 * noise * torch.randn(images.shape, generator=Generator().manual_seed(0))
    return Dataset(images.clamp(0, 255).to(torch.uint8), name="stripes", factor_space=space)


@dataclass(frozen=True)
class BrightFirst:
    """A draw that sorts each batch by brightness.

    Args:
        share: Share of the batch that is drawn; the rest repeats the brightest observation.
    """

    share: float = 1.0

    def check(self, dataset: Dataset) -> None:
        """Accepts every dataset."""

    def __call__(self, dataset: Dataset, size: int, generator: Generator, step: Tensor) -> Batch:
        x = dataset.observe(dataset.sample_indices(size, generator))
        x = x[x.flatten(1).mean(1).argsort(descending=True)]
        kept = max(1, round(self.share * size))
        return Batch(torch.cat([x[:kept], x[:1].expand(size - kept, *x.shape[1:])]))


class PixelEncoder(nn.Module):
    """Linear encoder of flattened pixels."""

    def __init__(self, shape: tuple[int, ...], latent_dim: int) -> None:
        super().__init__()
        self.latent_dim, self.shape = latent_dim, shape
        self.layer = nn.Linear(int(np.prod(shape)), 2 * latent_dim)

    def forward(self, x: Tensor) -> Gaussian:
        return Gaussian(*self.layer(x.flatten(1)).chunk(2, 1))


def pixel_networks(shape: tuple[int, ...], latent_dim: int) -> tuple[nn.Module, nn.Module]:
    """A linear encoder and a linear decoder."""
    decoder = nn.Sequential(nn.Linear(latent_dim, int(np.prod(shape))), nn.Unflatten(1, shape))
    return PixelEncoder(shape, latent_dim), decoder


class Roughness(NamedTuple):
    score: float
    per_dim: np.ndarray

    higher_is_better = False
    bounds = (0.0, None)


def roughness(codes: np.ndarray) -> Roughness:
    """Mean absolute difference between neighboring quantiles of each dimension. Lower is better."""
    steps = np.abs(np.diff(np.quantile(codes, np.linspace(0, 1, 21), axis=0), axis=0)).mean(0)
    return Roughness(float(steps.mean()), steps)


def needs_gaze(codes: np.ndarray, gaze: Any) -> float:
    """A metric that asks for an array that no dataset supplies."""
    return float(len(codes) + len(gaze))


class NotAMethod(nn.Module):
    """A class that is no method."""
