"""Principled contrast. Towards Principled Objectives for Contrastive Disentanglement, 2020, submitted to ICLR."""

from typing import Unpack

from torch import nn

from unbraid.methods.contrast_autoencoder import ContrastAutoencoder, ContrastOptions, with_shared_options
from unbraid.objectives import ON_HOST, kl_to_standard_normal, squared_w2, squared_w2_to_zero
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import ContrastBatch, Terms


@with_shared_options
class PrincipledContrast(ContrastAutoencoder):
    r"""Contrast VAE that sets the salient codes of the background to zero and matches the distributions of the common
    codes of target and background.

    .. math:: L = L_{VAE} + λ_C E_y[‖μ_s(y)‖^2 + ‖σ_s(y)‖^2] + λ_z W_2^2(\hat q_t(z), \hat q_b(z))
              \quad \text{(Eqs. 7 and 8)}

    Args:
        encoder: Network from observations to the posterior q(z, s|x); needs an attribute `latent_dim`.
        decoder: Network from codes to the parameters of p(x|z, s).
        lambda_c: Weight of the zero-salient loss L_C; Eq. 3 remains if lambda_c and lambda_z are 0.
        lambda_z: Weight of the W2 distance between the common codes of target and background; 0 is Eq. 7.
        beta: Weight of the KL divergences.
        salient_beta_factor: Factor on beta for the salient strand. Below 1, information that either strand could encode
            costs less in the salient strand.
        lambda_schedule: Schedule that multiplies lambda_c and lambda_z, such as linear:0:1:5000. With a large lambda_c
            from the start, the salient codes of the target can collapse too, before they carry information.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        *,
        lambda_c: float = 1.0,  # Eq. 7 has no weight
        lambda_z: float = 1.0,  # Sec. 4.2
        beta: float = 2.0,  # App. A.3
        salient_beta_factor: float = 1.0,
        lambda_schedule: Schedule | None = None,
        **options: Unpack[ContrastOptions],
    ) -> None:
        super().__init__(encoder, decoder, beta=beta, **options)
        require_nonnegative(lambda_c=lambda_c, lambda_z=lambda_z, salient_beta_factor=salient_beta_factor)
        self.lambda_c, self.lambda_z, self.lambda_schedule = lambda_c, lambda_z, lambda_schedule
        self.salient_beta_factor = salient_beta_factor

    def cuda_graph_unsupported(self, dataset: object) -> str | None:
        return ON_HOST

    def loss(self, batch: ContrastBatch) -> Terms:
        elbo = self.elbo_terms(batch)
        zero = squared_w2_to_zero(self.strand_posterior(elbo.q_y, "salient"))  # the surrogate of Lemma 2
        z_t, z_b = (self.strands.take(codes, "common") for codes in (elbo.c_x, elbo.c_y))
        w2 = squared_w2(z_t, z_b)
        scale = 1.0 if self.lambda_schedule is None else self.lambda_schedule(self.step)
        bound = elbo.bound(self.kl_weight)
        if self.salient_beta_factor != 1:
            reduction = (1 - self.salient_beta_factor) * kl_to_standard_normal(
                self.strand_posterior(elbo.q_x, "salient")
            )
            bound = bound - self.kl_weight * reduction
        total = bound + scale * (self.lambda_c * zero + self.lambda_z * w2)
        return Terms(total, elbo.by_name | {"zero_salient": zero, "w2": w2})
