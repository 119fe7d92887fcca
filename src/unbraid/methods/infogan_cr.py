"""InfoGAN-CR. Lin et al., 2020, InfoGAN-CR and ModelCentrality: Self-supervised Model Training and Selection for
Disentangling GANs, arXiv:1906.06034."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.distributed import local_shard, random_for_global_batch
from unbraid.methods.base import BuildSpec, Player
from unbraid.methods.latent_gan import LatentGAN
from unbraid.nn import PairCritic
from unbraid.objectives import Bernoulli, Likelihood
from unbraid.optimizers import Adam
from unbraid.schedules import Constant, Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Codes, Observations, Scalar, Terms


class InfoGANCR(LatentGAN):
    r"""InfoGAN with a contrastive regularizer: a critic predicts which dimension of the code two images share.

    .. math:: \min_{G, H, Q} \max_D L_{Adv}(G, D) - λ L_{Info}(G, Q) - α L_c(G, H) \quad \text{(Eq. 5)}

    :math:`L_c` is the negated cross-entropy of the critic H, which generator and critic both minimize. The regularizer
    and the updates of the critic start at step `contrast_start_step`.

    Args:
        generator: Network from codes and noise to observations, before the link function of the likelihood.
        discriminator: Network from observations to a logit and to Q's prediction of the code; include spectral
            normalization.
        critic: Network from two observations to a logit per dimension of the code: the shared one.
        code_dim: Number of dimensions that Q predicts: the strand `codes`.
        noise_dim: Number of further latent dimensions: the strand `noise`.
        lambda_info: Weight λ of Q's error, in the losses of generator and discriminator.
        lambda_contrast: Weight α of the regularizer.
        contrast_start_step: First step of the regularizer.
        min_gap_schedule: Schedule of the minimum distance of the two images in each dimension that they do not share,
            below 2. The authors use `constant:0` for dSprites and `step:1.9:0:85000` for teapots.
        updates_per_step: Number of generator updates per step, each with a new batch.
        likelihood: Link function of the output: bernoulli for images in [0, 1], normal for rows.
    """

    def __init__(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        critic: nn.Module,
        *,
        code_dim: int = 5,  # sizes, weights, learning rates and start are those of the authors' code for dSprites
        noise_dim: int = 5,
        lambda_info: float = 0.05,
        lambda_contrast: float = 2.0,
        contrast_start_step: int = 288_000,
        min_gap_schedule: Schedule = Constant(0.0),
        updates_per_step: int = 2,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(
            generator,
            discriminator,
            code_dim=code_dim,
            noise_dim=noise_dim,
            lambda_info=lambda_info,
            updates_per_step=updates_per_step,
            likelihood=likelihood,
        )
        require_nonnegative(lambda_contrast=lambda_contrast)
        first_gap = float(min_gap_schedule(self.step))
        if contrast_start_step < 0 or not 0 <= first_gap < 2:
            raise ValueError(
                "contrast_start_step must be at least 0, and min_gap_schedule in [0, 2); got "
                f"{contrast_start_step} and {first_gap:g}."
            )
        self.critic, self.lambda_contrast = critic, lambda_contrast
        self.contrast_start_step, self.min_gap_schedule = contrast_start_step, min_gap_schedule

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        arguments = super().default_arguments(spec, missing, settings)
        if "critic" in missing:
            arguments["critic"] = PairCritic(spec.shape, cls.option(settings, "code_dim"))
        return arguments

    def loss(self, batch: Batch) -> Terms:
        terms = self.generator_terms(batch)
        terms["contrast"] = self.critic_loss_on_pairs(*self.pairs(batch.x))
        started = (self.step >= self.contrast_start_step).to(batch.x.dtype)
        total = terms["generator"] + self.lambda_info * terms["information"]
        return Terms(total + started * self.lambda_contrast * terms["contrast"], terms)

    def critic_loss(self, batch: Batch) -> Terms:
        """The loss of the critic, without gradient to the generator."""
        with torch.no_grad():
            pairs = self.pairs(batch.x)
        return Terms(self.critic_loss_on_pairs(*pairs), {})

    def pairs(self, like: Observations) -> tuple[Observations, Observations, Float[Tensor, "b d"]]:
        """Pairs of images that share the noise and one dimension of the code, with a one-hot of that dimension."""
        z1, z2 = self.sample_latents(like), self.sample_latents(like)
        c, noise = z1.tensor_split([self.code_dim], 1)
        c1, c2 = self.enforce_gap(c, z2[:, : self.code_dim])
        u = local_shard(random_for_global_batch(torch.rand, like, self.code_dim))
        shared = u == u.amax(1, keepdim=True)
        z1, z2 = (torch.cat([torch.where(shared, c, other), noise], 1) for other in (c1, c2))
        x1, x2 = self.generate(torch.cat([z1, z2])).chunk(2)
        return x1, x2, shared.to(like.dtype)

    def enforce_gap(self, c1: Codes, c2: Codes) -> tuple[Codes, Codes]:
        """Codes between -1 and 1, scaled towards 0 and then moved apart by half of the minimum gap each."""
        half = self.min_gap_schedule(self.step).to(c1.dtype) / 2
        c1, c2 = (1 - half) * c1, (1 - half) * c2
        push = torch.where(c1 > c2, half, -half)
        return c1 + push, c2 - push

    def critic_loss_on_pairs(
        self, x1: Observations, x2: Observations, shared: Float[Tensor, "b d"]
    ) -> Scalar:
        """The cross-entropy of the critic for pairs and their shared dimension."""
        logits = self.critic(x1, x2).to(x1.dtype)
        return -(F.log_softmax(logits, 1) * shared).sum(1).mean()

    def players(self) -> tuple[Player, ...]:
        critic = Player(
            "critic",
            self.critic.parameters(),
            self.critic_loss,
            Adam(lr=2e-3, beta1=0.5),
            start_step=self.contrast_start_step,
        )
        return (*super().players(), critic)
