"""Rb-VAE. Ruiz et al., 2019, Learning Disentangled Representations with Reference-Based Variational Autoencoders,
arXiv:1901.08534, Sec. 3; there the target's factors are e, here s, and the reference images are the background."""

import torch
from torch import nn

from unbraid.methods.contrast import ContrastAutoencoder
from unbraid.objectives import Likelihood, Pixels
from unbraid.schedules import Schedule
from unbraid.types import Codes, ContrastBatch, Terms


class RbVAE(ContrastAutoencoder):
    r"""Contrast VAE in which all of the background has one salient code, which is learnt.

    .. math:: L = KL(q(z|x) q(s|x) \| p(z) p(s)) - E \log p(x|z, s) + KL(q(z|y) \| p(z)) - E \log p(y|z, s^r)

    Args:
        encoder: Observations to the posterior q(z, s|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z, s).
        common: Dimensions of the common code z, which both data sets have.
        salient: Dimensions of the salient code s, which only the target has.
        beta: The weight of the KL divergences.
        warm_up: A multiplier of that weight by step, such as linear:0:1:10000, so that codes carry something before
            they cost something.
        log_w2: Whether the distance between the common codes of both is logged; it is not minimised.
        layers: Not in the paper. The architecture of two decoders, such as mlp: what the common code shows, and over it
            what the salient code adds; one decoder of both when left out.
        likelihood: The family p(x|z, s): pixels:SIGMA, bernoulli, or normal:SIGMA for rows.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        common: int = 16,
        salient: int = 8,
        beta: float = 1.0,
        warm_up: Schedule | None = None,
        log_w2: bool = False,
        layers: str = "",
        likelihood: Likelihood = Pixels(),
    ) -> None:
        sizes = {"common": common, "salient": salient}
        weight = {"beta": beta, "warm_up": warm_up}
        super().__init__(encoder, decoder, **sizes, **weight, likelihood=likelihood, log_w2=log_w2)
        self.s_r = nn.Parameter(torch.zeros(salient))

    def reference(self, codes: Codes) -> Codes:
        return self.strands.set(codes, "salient", self.s_r)

    def loss(self, batch: ContrastBatch) -> Terms:
        evidence = self.evidence(batch)
        return Terms(evidence.bound(self.kl_weight), evidence.parts | self.watched(evidence))
