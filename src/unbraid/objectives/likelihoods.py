"""Likelihoods of observations: negative logarithms in nats, summed over pixels, averaged over the batch."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.settings import Plain
from unbraid.types import Observations, Scalar

Means = Float[Tensor, "..."]
MARGIN = 1e-4  # of pixels from 0 and 1


def bernoulli_nll(logits: Observations, x: Observations) -> Scalar:
    r"""Cross-entropy of pixels in [0, 1] under Bernoulli variables with the given logits.

    .. math:: -\sum_i x_i \log σ(l_i) + (1 - x_i) \log(1 - σ(l_i))

    For grey pixels this is not the logarithm of a density: its minimum, at σ(l) = x, is the entropy of x.
    """
    return F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)


def gaussian_nll(mean: Observations, x: Observations, *, sigma: float = 1.0) -> Scalar:
    r"""Negative log-density under Gaussians of one spread, with its normaliser.

    .. math:: \sum_i (x_i - m_i)^2 / 2σ^2 + \log σ + ½ \log 2π
    """
    squares = F.mse_loss(mean, x, reduction="sum") / len(x)
    return squares / (2 * sigma**2) + x[0].numel() * (math.log(sigma) + 0.5 * math.log(2 * math.pi))


def squared_error(x: Observations, y: Observations) -> Scalar:
    """The distance D of papers that compare two decoded images: no likelihood, and so not in nats."""
    return (x - y).square().flatten(1).sum(1).mean()


class Likelihood(Plain):
    """A family p(x|z), whose parameters are what a decoder puts out."""

    bounded: ClassVar[bool] = False  # whether it is of values from 0 to 1 alone

    def nll(self, parameters: Observations, x: Observations) -> Scalar:
        """-log p(x|z) in nats, summed over pixels, averaged over the batch."""
        raise NotImplementedError

    def slope(self, parameters: Observations, x: Observations) -> Observations:
        """The derivative of the nll by each parameter, where no graph can be built for it."""
        raise NotImplementedError

    def mean(self, parameters: Observations) -> Observations:
        """The expected observation."""
        raise NotImplementedError

    def parameters_of(self, mean: Means, *, margin: float = MARGIN) -> Means:
        """The parameters with this mean, of which pixels keep a margin from 0 and 1, where they would be infinite."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bernoulli(Likelihood):
    """Pixels in [0, 1]; the decoder puts out logits."""

    bounded: ClassVar[bool] = True

    def nll(self, parameters: Observations, x: Observations) -> Scalar:
        return bernoulli_nll(parameters, x)

    def slope(self, parameters: Observations, x: Observations) -> Observations:
        return (parameters.sigmoid() - x) / len(x)

    def mean(self, parameters: Observations) -> Observations:
        return parameters.sigmoid()

    def parameters_of(self, mean: Means, *, margin: float = MARGIN) -> Means:
        return torch.logit(mean, margin)


@dataclass(frozen=True)
class Normal(Likelihood):
    """Any real values, with the spread sigma around them; the decoder puts out means."""

    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.sigma < math.inf:
            raise ValueError(f"A normal likelihood needs sigma above 0; got {self.sigma}.")

    def nll(self, parameters: Observations, x: Observations) -> Scalar:
        return gaussian_nll(parameters, x, sigma=self.sigma)

    def slope(self, parameters: Observations, x: Observations) -> Observations:
        return (parameters - x) / (self.sigma**2 * len(x))

    def mean(self, parameters: Observations) -> Observations:
        return parameters

    def parameters_of(self, mean: Means, *, margin: float = MARGIN) -> Means:
        return mean


@dataclass(frozen=True)
class Pixels(Normal):
    """Pixels in [0, 1], with the spread sigma around the sigmoid of what the decoder puts out.

    With the default, -log p(x|z) is the squared error and a constant: 2σ² = 1.
    """

    bounded: ClassVar[bool] = True
    sigma: float = math.sqrt(0.5)

    def nll(self, parameters: Observations, x: Observations) -> Scalar:
        return gaussian_nll(parameters.sigmoid(), x, sigma=self.sigma)

    def slope(self, parameters: Observations, x: Observations) -> Observations:
        mean = parameters.sigmoid()
        return super().slope(mean, x) * mean * (1 - mean)

    def mean(self, parameters: Observations) -> Observations:
        return parameters.sigmoid()

    def parameters_of(self, mean: Means, *, margin: float = MARGIN) -> Means:
        return torch.logit(mean, margin)
