"""VFAE. Louizos et al., 2016, The Variational Fair Autoencoder, arXiv:1511.00830."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.distributed import local_shard, random_for_global_batch
from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.nuisances import (
    KnownNuisances,
    concat_nuisances,
    known_nuisances,
    one_hot,
    require_nuisances,
)
from unbraid.methods.predictor import (
    DEFAULT_OPTIMIZER,
    Predictor,
    accuracy,
    cross_entropy,
    labels_of,
    require_codes,
)
from unbraid.nn import MLPEncoder
from unbraid.objectives import Bernoulli, Likelihood, fast_group_mmd, kl, kl_to_standard_normal
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Gaussian, Nuisances, Observations, Scalar, Terms

MAX_LOGVAR = 10.0


class VFAE(Predictor[Batch]):
    r"""Two-layer VAE conditioned on the known nuisances s, with an MMD penalty that makes z1 independent of s.

    .. math:: L = -E[\log p(x|z_1, s)] + E[KL(q(z_1|x, s) \| p(z_1|z_2, y))] + E[KL(q(z_2|z_1, y) \| p(z_2))]
              - α E[\log q(y|z_1)] + β \, MMD(z_1 | s)

    The MMD compares z1 for each value of a nuisance with z1 for all other values, averaged over the values and summed
    over the nuisances, by random features (fast MMD). This is the loss for fully labeled data.

    Args:
        encoder: Network from observations and one-hot nuisances to q(z1|x, s); needs an attribute `latent_dim`.
        decoder: Network from z1 and one-hot nuisances to the parameters of p(x|z1, s).
        classifier: Network from z1 to a logit per class: q(y|z1).
        upper: Network from z1 and the one-hot class to q(z2|z1, y).
        lower: Network from z2 and the one-hot class to p(z1|z2, y).
        classes: Number of classes.
        nuisances: Number of values of each known nuisance.
        z1_dim: Number of dimensions of z1, the invariant strand.
        z2_dim: Number of dimensions of z2, which encodes what of z1 the class does not determine.
        lambda_class: Weight α of the cross-entropy.
        lambda_invariance: Weight β of the MMD.
        nuisance_dropout: Probability of encoding an observation without its nuisances in training, below 1. Values
            that training does not have are encoded in that way later; not in the paper.
        likelihood: Family of p(x|z1, s): bernoulli or normal:SIGMA.
    """

    code_size_options = ("z1_dim", "z2_dim")
    conditions_on = "nuisances"

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        upper: nn.Module,
        lower: nn.Module,
        *,
        classes: int,
        nuisances: tuple[int, ...],
        z1_dim: int = 50,  # App. A, on the largest of its tables
        z2_dim: int = 50,
        lambda_class: float = 100.0,
        lambda_invariance: float = 100.0,
        nuisance_dropout: float = 0.0,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__()
        require_nonnegative(
            lambda_class=lambda_class, lambda_invariance=lambda_invariance, nuisance_dropout=nuisance_dropout
        )
        if nuisance_dropout >= 1:
            raise ValueError(f"nuisance_dropout must be below 1; got {nuisance_dropout}.")
        require_codes(encoder, z1_dim)
        self.encoder, self.decoder, self.classifier = encoder, decoder, classifier
        self.upper, self.lower = upper, lower
        self.classes, self.nuisances, self.likelihood = classes, KnownNuisances(nuisances), likelihood
        self.lambda_class, self.lambda_invariance = lambda_class, lambda_invariance
        self.nuisance_dropout = nuisance_dropout
        self._strands = Strands.from_sizes(z1=z1_dim, z2=z2_dim)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        z1, z2 = cls.option(settings, "z1_dim"), cls.option(settings, "z2_dim")
        values = sum(spec.nuisances)
        wide = (spec.shape[0] + values, *spec.shape[1:])
        arguments = super().default_arguments(spec._replace(shape=wide, latent_dim=z1), missing, settings)
        require_nuisances(cls.name(), spec)
        if "decoder" in missing:
            built = super().default_arguments(spec._replace(latent_dim=z1 + values), {"decoder"}, {})
            arguments["decoder"] = built["decoder"]
        hidden = (100,)  # App. A
        arguments["upper"] = MLPEncoder((z1 + spec.classes,), z2, hidden=hidden)
        arguments["lower"] = MLPEncoder((z2 + spec.classes,), z1, hidden=hidden)
        return arguments

    @classmethod
    def classifier_input_dim(cls, spec: BuildSpec, settings: Mapping[str, Any]) -> int:
        return cls.option(settings, "z1_dim")

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: Batch) -> Terms:
        labels, s = labels_of(batch), self.nuisances.record_values(known_nuisances(batch))
        y = one_hot(labels, self.classes).to(batch.x.dtype)
        q1 = _gaussian(self.encoder, concat_nuisances(batch.x, self.dropped(self.nuisances(s, batch.x))))
        z1 = q1.sample()
        q2 = self.posterior2(z1, y)
        p1 = _gaussian(self.lower, torch.cat([q2.sample(), y], 1))
        nll = self.likelihood.nll(self._decoded(z1, s), batch.x)
        kl1, kl2 = kl(q1, p1).sum(1).mean(), kl_to_standard_normal(q2)
        mmd = self.discrepancy(z1, s)
        logits = self.classifier(z1).to(z1.dtype)
        ce = cross_entropy(logits, labels)
        total = nll + kl1 + kl2 + self.lambda_class * ce + self.lambda_invariance * mmd
        terms = {"nll": nll, "kl1": kl1, "kl2": kl2, "mmd": mmd, "cross_entropy": ce}
        return Terms(total, terms | {"accuracy": accuracy(logits, labels)})

    def dropped(self, vectors: Float[Tensor, "b v"]) -> Float[Tensor, "b v"]:
        """The vectors of the nuisances, zeros for a random share of the rows; the decoder gets all of them."""
        if not self.nuisance_dropout:
            return vectors
        u = local_shard(random_for_global_batch(torch.rand, vectors, 1, dtype=vectors.dtype))
        return vectors * (u >= self.nuisance_dropout)

    def discrepancy(self, z1: Codes, s: Nuisances) -> Scalar:
        """MMD(z1 | s), with a Gaussian kernel whose squared width is the number of dimensions."""
        width = z1.shape[1] ** 0.5  # two samples of N(0, I) have a distance of √2 widths
        each = zip(s.unbind(1), self.nuisances.sizes, strict=True)
        return sum((fast_group_mmd(z1, value, size, width=width) for value, size in each), z1.new_zeros(()))

    def posterior1(self, x: Observations, condition: Nuisances | None) -> Gaussian:
        """q(z1|x, s)."""
        return _gaussian(self.encoder, concat_nuisances(x, self.nuisances(condition, x)))

    def posterior2(self, z1: Codes, y: Float[Tensor, "b classes"]) -> Gaussian:
        """q(z2|z1, y)."""
        return _gaussian(self.upper, torch.cat([z1, y], 1))

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        """The means of z1 and z2; z2 is conditioned on the predicted class probabilities."""
        z1 = self.posterior1(x, condition).mean
        y = self.classifier(z1).to(z1.dtype).softmax(1)
        return torch.cat([z1, self.posterior2(z1, y).mean], 1)

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decode_parameters(codes, condition))

    def decode_parameters(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        """The parameters of p(x|z1, s), which do not depend on z2."""
        return self._decoded(self.strands.take(codes, "z1"), condition)

    def _decoded(self, z1: Codes, condition: Tensor | None) -> Observations:
        return self.decoder(torch.cat([z1, self.nuisances(condition, z1)], 1)).to(z1.dtype)

    def sample_prior(self, size: int) -> Codes:
        """z2 from N(0, I), a uniformly drawn class, and z1 from p(z1|z2, y)."""
        z2 = torch.randn(size, len(self.strands["z2"]), device=self.step.device)
        y = torch.randint(self.classes, (size,), device=self.step.device)
        p1 = _gaussian(self.lower, torch.cat([z2, one_hot(y, self.classes).to(z2.dtype)], 1))
        return torch.cat([p1.mean + (0.5 * p1.logvar).exp() * torch.randn_like(p1.mean), z2], 1)

    def players(self) -> tuple[Player, ...]:
        return (Player("model", self.parameters(), self.loss, DEFAULT_OPTIMIZER),)


def _gaussian(network: nn.Module, x: Tensor) -> Gaussian:
    """The Gaussian that a network returns, in the precision of the input, with the log variance squashed to ±10.

    A sample of one Gaussian is the input of the next network. Without the bound, one outlier makes KL1 overflow,
    because KL1 divides by the variance computed from the sample.
    """
    mean, logvar = network(x)
    return Gaussian(mean.to(x.dtype), MAX_LOGVAR * (logvar.to(x.dtype) / MAX_LOGVAR).tanh())
