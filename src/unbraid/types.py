"""The types of Unbraid: observations, codes, posteriors, batches and terms.

Shapes use the same letters everywhere: b batch, c h w image, f columns of a row, d dimensions of a code, k factors,
m augmentations, n samples.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unbraid.distributed import noise_like

Images = Float[Tensor, "b c h w"]  # in [0, 1]
Rows = Float[Tensor, "b f"]  # tables and vectors
Observations = Float[Tensor, "b *shape"]  # Images or Rows
Others = Float[Tensor, "o *shape"]  # observations in another number
Codes = Float[Tensor, "b d"]
Scalar = Float[Tensor, ""]
Logits = Float[Tensor, "b classes"]
Labels = Int[Tensor, " b"]
Nuisances = Int[Tensor, "b m"]  # one column per known nuisance
Factors = Int[Tensor, "b k"]


class Gaussian(NamedTuple):
    """A factorized Gaussian per observation: the posterior q(z|x)."""

    mean: Codes
    logvar: Codes

    @property
    def variance(self) -> Codes:
        return self.logvar.exp()

    def sample(self) -> Codes:
        """One reparameterized sample per observation, with noise from torch's default generator."""
        return self.mean + (0.5 * self.logvar).exp() * noise_like(self.mean)


class Batch(NamedTuple):
    """Observations. Labels, nuisances and factors are included where known; unsupervised losses do not use them."""

    x: Observations
    labels: Labels | None = None
    nuisances: Nuisances | None = None
    factors: Factors | None = None


class PairBatch(NamedTuple):
    """Two observations that differ in k factors; the method must infer which factors."""

    x1: Observations
    x2: Observations
    k: Int[Tensor, " b"]  # the number of factors that may differ, by the draw's pair rule
    labels: Labels | None = None  # of x1, like nuisances and factors
    nuisances: Nuisances | None = None
    factors: Factors | None = None
    factors2: Factors | None = None  # of x2
    labels2: Labels | None = None  # of x2


class ContrastBatch(NamedTuple):
    """Target and background observations, unpaired."""

    target: Observations
    background: Observations
    labels: Labels | None = None  # of the target, like nuisances and factors
    nuisances: Nuisances | None = None
    factors: Factors | None = None


class SetBatch(NamedTuple):
    """Sets of M observations: each observation, first in its set, and its augmentations."""

    x: Float[Tensor, "b m *shape"]
    labels: Labels | None = None
    nuisances: Int[Tensor, "b u"] | None = None
    factors: Factors | None = None


class ViewBatch(NamedTuple):
    """Two views of an observation, which share some of the factors."""

    x1: Observations
    x2: Observations
    labels: Labels | None = None  # of both views
    nuisances: Nuisances | None = None  # of x1, like factors
    factors: Factors | None = None
    factors2: Factors | None = None  # of x2


class Terms(NamedTuple):
    """A loss and its terms: sums over pixels or dimensions, means over the batch, in nats per observation."""

    total: Scalar  # what the optimizer minimizes
    by_name: dict[str, Scalar]  # the terms, unweighted, for the log
    cached: tuple[Tensor, ...] = ()  # without gradient, for a later player that reuses them

    def detached(self) -> Float[Tensor, " t"]:
        """Total and terms as one vector without gradient, in the order of `names`."""
        return torch.stack([self.total, *self.by_name.values()]).detach()

    @property
    def names(self) -> tuple[str, ...]:
        return ("loss", *self.by_name)
