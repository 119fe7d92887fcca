"""The two terms of the evidence lower bound: likelihoods of observations, and Gaussian KL divergences in closed form.

All are negative logarithms or divergences in nats, summed over pixels or dimensions and averaged over the batch.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.settings import Spec
from unbraid.types import Codes, Gaussian, Observations, Scalar

Means = Float[Tensor, "..."]
MARGIN = 1e-4  # of pixels from 0 and 1


def bernoulli_nll(logits: Observations, x: Observations) -> Scalar:
    r"""Cross-entropy of pixels in [0, 1] under Bernoulli variables with the given logits.

    .. math:: -\sum_i x_i \log σ(l_i) + (1 - x_i) \log(1 - σ(l_i))

    For gray pixels this is not the logarithm of a density: its minimum, at σ(l) = x, is the entropy of x.
    """
    return F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)


def gaussian_nll(mean: Observations, x: Observations, *, sigma: float = 1.0) -> Scalar:
    r"""Negative log-density under Gaussians of one standard deviation, with the normalizer.

    .. math:: \sum_i (x_i - m_i)^2 / 2σ^2 + \log σ + ½ \log 2π
    """
    squares = F.mse_loss(mean, x, reduction="sum") / len(x)
    return squares / (2 * sigma**2) + x[0].numel() * (math.log(sigma) + 0.5 * math.log(2 * math.pi))


def squared_error(x: Observations, y: Observations) -> Scalar:
    """The squared error, summed over pixels: the distance D of papers that compare two decoded images. Not in nats."""
    return (x - y).square().flatten(1).sum(1).mean()


class Likelihood(Spec):
    """A family p(x|z), whose parameters are the output of a decoder."""

    bounded: ClassVar[bool] = False  # whether observations must be in [0, 1]

    def nll(self, parameters: Observations, x: Observations) -> Scalar:
        """-log p(x|z) in nats, summed over pixels, averaged over the batch."""
        raise NotImplementedError

    def nll_gradient(self, parameters: Observations, x: Observations) -> Observations:
        """The derivative of `nll` with respect to each parameter, without autograd."""
        raise NotImplementedError

    def mean(self, parameters: Observations) -> Observations:
        """The expected observation."""
        raise NotImplementedError

    def parameters_of(self, mean: Means, *, margin: float = MARGIN) -> Means:
        """The parameters with this mean; pixels are clamped to a margin from 0 and 1, where logits are infinite."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bernoulli(Likelihood):
    """Pixels in [0, 1]; the decoder returns logits."""

    bounded: ClassVar[bool] = True

    def nll(self, parameters: Observations, x: Observations) -> Scalar:
        return bernoulli_nll(parameters, x)

    def nll_gradient(self, parameters: Observations, x: Observations) -> Observations:
        return (parameters.sigmoid() - x) / len(x)

    def mean(self, parameters: Observations) -> Observations:
        return parameters.sigmoid()

    def parameters_of(self, mean: Means, *, margin: float = MARGIN) -> Means:
        return torch.logit(mean, margin)


@dataclass(frozen=True)
class Normal(Likelihood):
    """Real values with standard deviation sigma; the decoder returns means."""

    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.sigma < math.inf:
            raise ValueError(f"sigma of a normal likelihood must be above 0; got {self.sigma}.")

    def nll(self, parameters: Observations, x: Observations) -> Scalar:
        return gaussian_nll(parameters, x, sigma=self.sigma)

    def nll_gradient(self, parameters: Observations, x: Observations) -> Observations:
        return (parameters - x) / (self.sigma**2 * len(x))

    def mean(self, parameters: Observations) -> Observations:
        return parameters

    def parameters_of(self, mean: Means, *, margin: float = MARGIN) -> Means:
        return mean


@dataclass(frozen=True)
class Pixels(Normal):
    """Pixels in [0, 1], with standard deviation sigma around the sigmoid of the decoder output.

    With the default, -log p(x|z) is the squared error and a constant: 2σ² = 1.
    """

    bounded: ClassVar[bool] = True
    sigma: float = math.sqrt(0.5)

    def nll(self, parameters: Observations, x: Observations) -> Scalar:
        return gaussian_nll(parameters.sigmoid(), x, sigma=self.sigma)

    def nll_gradient(self, parameters: Observations, x: Observations) -> Observations:
        mean = parameters.sigmoid()
        return super().nll_gradient(mean, x) * mean * (1 - mean)

    def mean(self, parameters: Observations) -> Observations:
        return parameters.sigmoid()

    def parameters_of(self, mean: Means, *, margin: float = MARGIN) -> Means:
        return torch.logit(mean, margin)


def kl(q: Gaussian, p: Gaussian) -> Codes:
    r"""KL(q || p) per row and dimension.

    .. math:: ½ (σ_q^2 / σ_p^2 + (μ_q - μ_p)^2 / σ_p^2 - 1 - \log(σ_q^2 / σ_p^2))
    """
    ratio = q.logvar - p.logvar
    return 0.5 * (ratio.exp() + (q.mean - p.mean).square() * (-p.logvar).exp() - 1 - ratio)


def kl_per_dim(q: Gaussian) -> Float[Tensor, " d"]:
    """KL(q || N(0, 1)) per dimension, averaged over the batch: an upper bound on its information."""
    return 0.5 * (q.mean.square() + q.logvar.exp() - 1 - q.logvar).mean(0)


def kl_to_standard_normal(q: Gaussian) -> Scalar:
    """KL(q || N(0, I)), summed over dimensions, averaged over the batch."""
    return kl_per_dim(q).sum()


def code_nll(q: Gaussian, z: Codes) -> Scalar:
    """-log q(z|x), summed over dimensions, averaged over the batch."""
    squares = (z - q.mean).square() * (-q.logvar).exp()
    return 0.5 * (squares + q.logvar + math.log(2 * math.pi)).sum(1).mean()
