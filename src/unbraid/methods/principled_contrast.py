"""Principled contrast. Towards Principled Objectives for Contrastive Disentanglement, 2020, submitted to ICLR."""

from typing import ClassVar

from torch import nn

from unbraid.methods.contrast import ContrastAutoencoder
from unbraid.objectives import Likelihood, Pixels, kl_to_standard_normal, squared_w2, squared_w2_to_zero
from unbraid.objectives.assignment import ON_HOST
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import ContrastBatch, Terms


class PrincipledContrast(ContrastAutoencoder):
    r"""Contrast VAE whose background has salient codes of zero, and whose common codes are alike in both data sets.

    .. math:: L = L_{VAE} + λ_C E_y[‖μ_s(y)‖^2 + ‖σ_s(y)‖^2] + λ_z W_2^2(\hat q_t(z), \hat q_b(z))
              \quad \text{(Eqs. 7 and 8)}

    Args:
        encoder: Observations to the posterior q(z, s|x); needs an attribute `codes`.
        decoder: Codes to the parameters of p(x|z, s).
        common: Dimensions of the common code z, which both data sets have.
        salient: Dimensions of the salient code s, which only the target has.
        lambda_c: The weight of the zero-salient loss L_C; with 0 for both weights, Eq. 3 is left.
        lambda_z: The weight of the transport between the common codes of both; 0 is Eq. 7.
        beta: The weight of the KL divergences.
        salient_cost: A multiplier of that weight for the salient code. Below 1, what either code could hold is cheaper
            in the salient one.
        warm_up: A multiplier of that weight by step, such as linear:0:1:10000, so that codes carry something before
            they cost something.
        tightening: A multiplier of both weights λ by step, such as linear:0:1:5000. With a large λ_C from the start,
            salient codes can vanish for the target too, before they carry anything.
        layers: Not in the paper. The architecture of two decoders, such as mlp: what the common code shows, and over it
            what the salient code adds; one decoder of both when left out.
        likelihood: The family p(x|z, s): pixels:SIGMA, bernoulli, or normal:SIGMA for rows.
    """

    not_captured: ClassVar[str | None] = ON_HOST

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        common: int = 16,  # App. A.3, as its sentence says; its formula has 8 and 4
        salient: int = 8,
        lambda_c: float = 1.0,  # Eq. 7 has no weight
        lambda_z: float = 1.0,  # Sec. 4.2
        beta: float = 2.0,  # App. A.3
        salient_cost: float = 1.0,
        warm_up: Schedule | None = None,
        tightening: Schedule | None = None,
        layers: str = "",
        likelihood: Likelihood = Pixels(),
    ) -> None:
        super().__init__(
            encoder,
            decoder,
            common=common,
            salient=salient,
            beta=beta,
            warm_up=warm_up,
            likelihood=likelihood,
        )
        require_nonnegative(lambda_c=lambda_c, lambda_z=lambda_z, salient_cost=salient_cost)
        self.lambda_c, self.lambda_z, self.tightening = lambda_c, lambda_z, tightening
        self.salient_cost = salient_cost

    def loss(self, batch: ContrastBatch) -> Terms:
        evidence = self.evidence(batch)
        zero = squared_w2_to_zero(self.part(evidence.q_y, "salient"))  # the surrogate of Lemma 2
        z_t, z_b = (self.strands.take(codes, "common") for codes in (evidence.c_x, evidence.c_y))
        w2 = squared_w2(z_t, z_b)
        tight = 1.0 if self.tightening is None else self.tightening(self.step)
        bound = evidence.bound(self.kl_weight)
        if self.salient_cost != 1:
            saved = (1 - self.salient_cost) * kl_to_standard_normal(self.part(evidence.q_x, "salient"))
            bound = bound - self.kl_weight * saved
        total = bound + tight * (self.lambda_c * zero + self.lambda_z * w2)
        return Terms(total, evidence.parts | {"zero_salient": zero, "w2": w2})
