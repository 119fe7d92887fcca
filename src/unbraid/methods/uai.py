"""UAI. Jaiswal et al., 2018, Unsupervised Adversarial Invariance, arXiv:1809.10083."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.distributed import local_shard, random_for_global_batch
from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.predictor import (
    DEFAULT_OPTIMIZER,
    Predictor,
    accuracy,
    cross_entropy,
    labels_of,
    require_codes,
)
from unbraid.nn import DeterministicEncoder, Disentanglers
from unbraid.objectives import Bernoulli, Likelihood, squared_error
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, Scalar, Terms

E1 = Float[Tensor, "b e1"]
E2 = Float[Tensor, "b e2"]


class UAI(Predictor[Batch]):
    r"""A code split into e1 (predicts the label) and e2 (reconstructs), trained adversarially to be independent. Needs
    no nuisance labels.

    .. math:: L = α L_{pred}(y, p(e_1)) + β L_{dec}(x, d(ψ(e_1), e_2)) + γ L_{dis}, \quad
              L_{dis} = \|f_1(e_1) - u_2\|^2 + \|f_2(e_2) - u_1\|^2

    ψ is dropout of e1, so that the decoder relies on e2. The disentanglers f1 and f2 are trained to predict e2 from e1
    and e1 from e2; encoder, decoder and classifier are trained so that these predictions are noise u, uniform between
    -1 and 1.

    Args:
        encoder: Network from observations to codes between -1 and 1; needs an attribute `latent_dim`.
        decoder: Network from codes to observations, before the link function of the likelihood.
        classifier: Network from e1 to a logit per class.
        disentanglers: Network from e1 and e2 to a prediction of e1 and one of e2.
        e1_dim: Number of dimensions of e1.
        e2_dim: Number of dimensions of e2.
        lambda_class: Weight α of the cross-entropy.
        lambda_reconstruction: Weight β of the squared error, summed over pixels.
        lambda_invariance: Weight γ of the disentanglers' squared errors, summed over dimensions.
        dropout: Probability of dropping each dimension of e1, below 1.
        updates_per_step: Number of updates of the disentanglers per step, each with a new batch.
        likelihood: Link function of the output: bernoulli for images in [0, 1], normal for rows.
    """

    code_size_options = ("e1_dim", "e2_dim")

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        disentanglers: nn.Module,
        *,
        e1_dim: int = 10,  # sizes, weights and updates are those of the authors' code for rotated digits
        e2_dim: int = 20,
        lambda_class: float = 100.0,
        lambda_reconstruction: float = 0.1,  # their code weights the mean over pixels, not the sum
        lambda_invariance: float = 1.0,
        dropout: float = 0.5,
        updates_per_step: int = 10,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__()
        require_nonnegative(
            lambda_class=lambda_class,
            lambda_reconstruction=lambda_reconstruction,
            lambda_invariance=lambda_invariance,
        )
        require_nonnegative(dropout=dropout)
        if dropout >= 1 or updates_per_step < 1:
            raise ValueError(
                "dropout must be below 1 and updates_per_step at least 1; got "
                f"dropout={dropout}, updates_per_step={updates_per_step}."
            )
        require_codes(encoder, e1_dim + e2_dim)
        self.encoder, self.decoder, self.classifier = encoder, decoder, classifier
        self.disentanglers, self.likelihood = disentanglers, likelihood
        self.lambda_class, self.lambda_reconstruction = lambda_class, lambda_reconstruction
        self.lambda_invariance = lambda_invariance
        self.dropout, self.updates_per_step = dropout, updates_per_step
        self._strands = Strands.from_sizes(e1=e1_dim, e2=e2_dim)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        e1, e2 = cls.option(settings, "e1_dim"), cls.option(settings, "e2_dim")
        arguments = super().default_arguments(spec._replace(latent_dim=e1 + e2), missing, settings)
        if "encoder" in missing:
            arguments["encoder"] = DeterministicEncoder(arguments["encoder"], ending="tanh")
        if "disentanglers" in missing:
            arguments["disentanglers"] = Disentanglers(e1, e2)
        return arguments

    @classmethod
    def classifier_input_dim(cls, spec: BuildSpec, settings: Mapping[str, Any]) -> int:
        return cls.option(settings, "e1_dim")

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: Batch) -> Terms:
        labels = labels_of(batch)
        codes = self.encode(batch.x)
        e1, e2 = self.split_code(codes)
        dropped_e1 = e1 * (_uniform(e1) >= self.dropout) / (1 - self.dropout)
        error = squared_error(self.decode(torch.cat([dropped_e1, e2], 1)), batch.x)
        u1, u2 = 2 * _uniform(e1) - 1, 2 * _uniform(e2) - 1
        dis = self.disentanglement(e1, e2, u1, u2)
        logits = self.classify(codes)
        ce = cross_entropy(logits, labels)
        total = self.lambda_class * ce + self.lambda_reconstruction * error + self.lambda_invariance * dis
        terms = {"cross_entropy": ce, "squared_error": error, "disentanglers": dis}
        return Terms(total, terms | {"accuracy": accuracy(logits, labels)})

    def disentangler_loss(self, batch: Batch) -> Terms:
        """The loss of the disentanglers, without gradients in the encoder."""
        with torch.no_grad():
            e1, e2 = self.split_code(self.encode(batch.x))
        return Terms(self.disentanglement(e1, e2, e1, e2), {})

    def disentanglement(self, e1: E1, e2: E2, target1: E1, target2: E2) -> Scalar:
        """The squared error of both predictions, summed over dimensions, averaged over the batch."""
        predicted_e1, predicted_e2 = self.disentanglers(e1, e2)
        return squared_error(predicted_e1.to(e1.dtype), target1) + squared_error(
            predicted_e2.to(e1.dtype), target2
        )

    def split_code(self, codes: Codes) -> tuple[E1, E2]:
        """The strands e1 and e2 of the codes."""
        return self.strands.take(codes, "e1"), self.strands.take(codes, "e2")

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decode_parameters(codes, condition))

    def decode_parameters(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        """The output of the decoder, before the link function."""
        return self.decoder(codes).to(codes.dtype)

    def sample_prior(self, size: int) -> Codes:
        """Codes uniform between -1 and 1, the range of the encoder; training does not enforce this distribution."""
        return 2 * torch.rand(size, self.strands.size, device=self.step.device) - 1

    def players(self) -> tuple[Player, ...]:
        main = [*self.encoder.parameters(), *self.decoder.parameters(), *self.classifier.parameters()]
        disentanglers = self.disentanglers.parameters()
        return (
            Player("main", main, self.loss, DEFAULT_OPTIMIZER),
            Player(
                "disentanglers",
                disentanglers,
                self.disentangler_loss,
                DEFAULT_OPTIMIZER,
                updates_per_step=self.updates_per_step,
            ),
        )


def _uniform(local: Codes) -> Codes:
    """Uniform numbers in [0, 1] in the shape of the local shard."""
    return local_shard(random_for_global_batch(torch.rand, local, local.shape[1], dtype=local.dtype))
