"""Principled contrast. Towards Principled Objectives for Contrastive Disentanglement, 2020, submitted to ICLR."""

from typing import Literal, Unpack

from torch import nn

from unbraid.methods.contrast_autoencoder import ContrastAutoencoder, ContrastOptions, with_shared_options
from unbraid.nn import HasTrunk
from unbraid.objectives import ON_HOST, kl_to_standard_normal, squared_w2, squared_w2_to_zero
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import ContrastBatch, Gaussian, Observations, Scalar, Terms

ZeroSalientStd = Literal["shared-head", "separate-head", "none"]


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
        zero_salient_std: Where σ_s(y) of the zero-salient loss comes from: shared-head (the encoder's output, as for
            the target), separate-head (a linear layer of its own on the encoder's features), or none (the loss is
            ‖μ_s(y)‖² alone).
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
        zero_salient_std: ZeroSalientStd = "shared-head",
        lambda_schedule: Schedule | None = None,
        **options: Unpack[ContrastOptions],
    ) -> None:
        super().__init__(encoder, decoder, beta=beta, **options)
        require_nonnegative(lambda_c=lambda_c, lambda_z=lambda_z, salient_beta_factor=salient_beta_factor)
        self.lambda_c, self.lambda_z, self.lambda_schedule = lambda_c, lambda_z, lambda_schedule
        self.salient_beta_factor = salient_beta_factor
        self.zero_salient_std = zero_salient_std
        is_separate, salient = zero_salient_std == "separate-head", len(self.strands["salient"])
        self.background_head = nn.Linear(_heads(encoder).in_features, salient) if is_separate else None

    def cuda_graph_unsupported(self, dataset: object) -> str | None:
        return ON_HOST

    def posteriors(self, x1: Observations, x2: Observations) -> tuple[Gaussian, Gaussian]:
        """The posteriors of target and background; with a separate head, σ_s of the background is its output."""
        if self.background_head is None:
            return super().posteriors(x1, x2)
        assert isinstance(self.encoder, HasTrunk)
        features_x, features_y = self.apply_to_both(self.encoder.trunk, x1, x2)
        q_x, q_y = (
            Gaussian(*self.encoder.heads(features).to(x1.dtype).chunk(2, 1))
            for features in (features_x, features_y)
        )
        logvar = self.background_head(features_y).to(x1.dtype)
        return q_x, q_y._replace(logvar=self.strands.set(q_y.logvar, "salient", logvar))

    def zero_salient(self, q_s: Gaussian) -> Scalar:
        """The surrogate of Lemma 2 for the background's salient posterior, or the part of its mean."""
        if self.zero_salient_std == "none":
            return q_s.mean.square().sum(1).mean()
        return squared_w2_to_zero(q_s)

    def loss(self, batch: ContrastBatch) -> Terms:
        elbo = self.elbo_terms(batch)
        zero = self.zero_salient(self.strand_posterior(elbo.q_y, "salient"))
        z_t, z_b = (self.strands.take(codes, "common") for codes in (elbo.c_x, elbo.c_y))
        w2 = squared_w2(z_t, z_b)
        scale = 1.0 if self.lambda_schedule is None else self.lambda_schedule(self.step)
        salient_kl = kl_to_standard_normal(self.strand_posterior(elbo.q_x, "salient"))
        # Arithmetic and no condition: in a population of models that differ in the factor, it is a tensor.
        bound = elbo.bound(self.kl_weight) - (1 - self.salient_beta_factor) * self.kl_weight * salient_kl
        total = bound + scale * (self.lambda_c * zero + self.lambda_z * w2)
        return Terms(total, elbo.by_name | {"zero_salient": zero, "w2": w2})


def _heads(encoder: nn.Module) -> nn.Linear:
    """The linear layer of an encoder from its features to the posterior."""
    if not isinstance(encoder, HasTrunk) or not isinstance(encoder.heads, nn.Linear):
        raise ValueError(
            "--zero-salient-std separate-head requires an encoder with `trunk` and linear `heads`, such as that of "
            f"conv-contrast; {type(encoder).__name__} has none."
        )
    return encoder.heads
