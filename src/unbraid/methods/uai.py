"""UAI. Jaiswal et al., 2018, Unsupervised Adversarial Invariance, arXiv:1809.10083."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unbraid.distributed import joined, share
from unbraid.methods.base import Facts, Player
from unbraid.methods.predictor import RATE, Predictor, accuracy, cross_entropy, labels_of, require_codes
from unbraid.nn import Disentanglers, Features
from unbraid.objectives import Bernoulli, Likelihood, squared_error
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, Scalar, Terms

First = Float[Tensor, "b e1"]
Second = Float[Tensor, "b e2"]


class UAI(Predictor[Batch]):
    r"""A code of two parts that compete: e1 predicts and e2 explains the rest, without a word on nuisances.

    .. math:: L = α L_{pred}(y, p(e_1)) + β L_{dec}(x, d(ψ(e_1), e_2)) + γ L_{dis}, \quad
              L_{dis} = \|f_1(e_1) - u_2\|^2 + \|f_2(e_2) - u_1\|^2

    ψ drops each dimension of e1 with a chance of one half, so that the decoder learns to lean on e2. Disentanglers
    f1 and f2 learn to guess one part from the other; the rest learns to make them guess nothing but noise u,
    uniform between -1 and 1.

    Args:
        encoder: Observations to codes between -1 and 1; needs an attribute `codes`.
        decoder: Codes to observations, before the likelihood's link.
        classifier: The codes of e1 to a logit for each class.
        disentanglers: e1 and e2 to a guess of e1 and one of e2.
        e1: How many codes predict.
        e2: How many codes explain the rest.
        prediction: The weight α.
        reconstruction: The weight β of the squared error, summed over pixels.
        invariance: The weight γ of the disentanglers' squared errors, summed over codes.
        dropout: The chance of each dimension of e1 to be dropped, below 1.
        updates: How many times the disentanglers move in a step, each time on a fresh batch.
        likelihood: Gives the link alone: bernoulli for images in [0, 1], normal for any rows.
    """

    sizes_strands = True

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        classifier: nn.Module,
        disentanglers: nn.Module,
        *,
        e1: int = 10,  # sizes, weights and updates are those of the authors' code for rotated digits
        e2: int = 20,
        prediction: float = 100.0,
        reconstruction: float = 0.1,  # of a mean over pixels there
        invariance: float = 1.0,
        dropout: float = 0.5,
        updates: int = 10,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__()
        require_nonnegative(prediction=prediction, reconstruction=reconstruction, invariance=invariance)
        require_nonnegative(dropout=dropout)
        if dropout >= 1 or updates < 1:
            raise ValueError(f"dropout must be below 1 and updates at least 1; got {dropout} and {updates}.")
        require_codes(encoder, e1 + e2)
        self.encoder, self.decoder, self.classifier = encoder, decoder, classifier
        self.disentanglers, self.likelihood = disentanglers, likelihood
        self.prediction, self.reconstruction, self.invariance = prediction, reconstruction, invariance
        self.dropout, self.updates = dropout, updates
        self._strands = Strands.cut(e1=e1, e2=e2)

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        e1, e2 = cls.setting(settings, "e1"), cls.setting(settings, "e2")
        parts = super().parts(facts._replace(codes=e1 + e2), wanted, settings)
        if "encoder" in wanted:
            parts["encoder"] = Features(parts["encoder"], ending="tanh")
        if "disentanglers" in wanted:
            parts["disentanglers"] = Disentanglers(e1, e2)
        return parts

    @classmethod
    def readable(cls, facts: Facts, settings: Mapping[str, Any]) -> int:
        return cls.setting(settings, "e1")

    @property
    def strands(self) -> Strands:
        return self._strands

    def loss(self, batch: Batch) -> Terms:
        labels = labels_of(batch)
        codes = self.encode(batch.x)
        e1, e2 = self.halves(codes)
        noisy = e1 * (_uniform(e1) >= self.dropout) / (1 - self.dropout)
        error = squared_error(self.decode(torch.cat([noisy, e2], 1)), batch.x)
        u1, u2 = 2 * _uniform(e1) - 1, 2 * _uniform(e2) - 1
        dis = self.disentanglement(e1, e2, u1, u2)
        logits = self.classify(codes)
        ce = cross_entropy(logits, labels)
        total = self.prediction * ce + self.reconstruction * error + self.invariance * dis
        parts = {"cross_entropy": ce, "squared_error": error, "disentanglers": dis}
        return Terms(total, parts | {"accuracy": accuracy(logits, labels)})

    def disentangler_loss(self, batch: Batch) -> Terms:
        """How badly each part is guessed from the other; no gradient reaches the encoder."""
        with torch.no_grad():
            e1, e2 = self.halves(self.encode(batch.x))
        return Terms(self.disentanglement(e1, e2, e1, e2), {})

    def disentanglement(self, e1: First, e2: Second, target1: First, target2: Second) -> Scalar:
        """The squared error of both guesses from their targets, summed over codes, averaged over the batch."""
        guess1, guess2 = self.disentanglers(e1, e2)
        return squared_error(guess1.to(e1.dtype), target1) + squared_error(guess2.to(e1.dtype), target2)

    def halves(self, codes: Codes) -> tuple[First, Second]:
        """e1 and e2."""
        return self.strands.take(codes, "e1"), self.strands.take(codes, "e2")

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        return self.encoder(x).to(x.dtype)

    def decode(self, codes: Codes, given: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decoded(codes, given))

    def decoded(self, codes: Codes, given: Tensor | None = None) -> Observations:
        """What the decoder puts out: the parameters of p(x|z)."""
        return self.decoder(codes).to(codes.dtype)

    def prior(self, size: int) -> Codes:
        """Uniform between -1 and 1, as the encoder's range is; nothing makes the codes so."""
        return 2 * torch.rand(size, self.strands.size, device=self.step.device) - 1

    def players(self) -> tuple[Player, ...]:
        main = [*self.encoder.parameters(), *self.decoder.parameters(), *self.classifier.parameters()]
        adversary = self.disentanglers.parameters()
        return (
            Player("main", main, self.loss, RATE),
            Player("adversary", adversary, self.disentangler_loss, RATE, updates=self.updates),
        )


def _uniform(local: Codes) -> Codes:
    """Numbers between 0 and 1, the share of this process."""
    return share(joined(torch.rand, local, local.shape[1], dtype=local.dtype))
