"""The nouns of Unbraid: observations, codes, posteriors, batches and terms.

Shape letters are the same everywhere: b batch, c h w image, f columns of a row, d codes, k factors, m
augmentations, n samples.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from unbraid.distributed import noise_like

Images = Float[Tensor, "b c h w"]  # in [0, 1]
Rows = Float[Tensor, "b f"]  # tables and vectors
Observations = Float[Tensor, "b *shape"]  # Images or Rows
Others = Float[Tensor, "o *shape"]  # of the same shape, as many as there are
Codes = Float[Tensor, "b d"]
Scalar = Float[Tensor, ""]
Logits = Float[Tensor, "b classes"]
Labels = Int[Tensor, " b"]
Nuisances = Int[Tensor, "b m"]  # one column for each known nuisance
Factors = Int[Tensor, "b k"]


class Gaussian(NamedTuple):
    """A factorial Gaussian for every row: the posterior q(z|x)."""

    mean: Codes
    logvar: Codes

    @property
    def variance(self) -> Codes:
        return self.logvar.exp()

    def sample(self) -> Codes:
        """One reparametrised draw a row, with noise from torch's default generator."""
        return self.mean + (0.5 * self.logvar).exp() * noise_like(self.mean)


class Batch(NamedTuple):
    """Observations alone; labels, nuisances and factors are carried where known, and an unsupervised loss
    never reads them."""

    x: Observations
    labels: Labels | None = None
    nuisances: Nuisances | None = None
    factors: Factors | None = None


class PairBatch(NamedTuple):
    """Two observations that differ in k factors; which ones, the method must infer."""

    x1: Observations
    x2: Observations
    k: Int[Tensor, " b"]  # in how many factors they may differ, as the draw's rule has it
    labels: Labels | None = None  # of x1, as the other fields below
    nuisances: Nuisances | None = None
    factors: Factors | None = None
    factors2: Factors | None = None  # of x2
    labels2: Labels | None = None  # of x2


class ContrastBatch(NamedTuple):
    """Target and background observations, unpaired."""

    target: Observations
    background: Observations
    labels: Labels | None = None  # of the target, as the other fields below
    nuisances: Nuisances | None = None
    factors: Factors | None = None


class SetBatch(NamedTuple):
    """Each observation with its M augmentations; the observation itself is one of the set, the first."""

    x: Float[Tensor, "b m *shape"]
    labels: Labels | None = None
    nuisances: Int[Tensor, "b u"] | None = None
    factors: Factors | None = None


class ViewBatch(NamedTuple):
    """Two views that share some factors and not others."""

    x1: Observations
    x2: Observations
    labels: Labels | None = None  # the joint label that both views share
    nuisances: Nuisances | None = None  # of x1, as the factors
    factors: Factors | None = None
    factors2: Factors | None = None  # of x2


class Terms(NamedTuple):
    """A loss with its parts: sums over pixels or codes, means over the batch, nats per image."""

    total: Scalar  # what the optimiser minimises
    parts: dict[str, Scalar]  # unweighted, for the log
    kept: tuple[Tensor, ...] = ()  # without gradient, for a later player that takes them

    def detached(self) -> Float[Tensor, " t"]:
        """The total and the parts as one vector, without gradient, in the order of `names`."""
        return torch.stack([self.total, *self.parts.values()]).detach()

    @property
    def names(self) -> tuple[str, ...]:
        return ("loss", *self.parts)
