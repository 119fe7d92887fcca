"""InfoGAN-CR. Lin et al., 2020, InfoGAN-CR and ModelCentrality: Self-supervised Model Training and Selection for
Disentangling GANs, arXiv:1906.06034."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.distributed import joined, share
from unbraid.methods.base import Facts, Player
from unbraid.methods.latent_gan import LatentGAN
from unbraid.nn import PairCritic
from unbraid.objectives import Bernoulli, Likelihood
from unbraid.optimisers import Adam
from unbraid.schedules import Constant, Schedule
from unbraid.settings import require_nonnegative
from unbraid.types import Batch, Codes, Observations, Scalar, Terms


class InfoGANCR(LatentGAN):
    r"""InfoGAN with a contrastive regulariser: from two images that share one code, a critic tells which.

    .. math:: \min_{G, H, Q} \max_D L_{Adv}(G, D) - λ L_{Info}(G, Q) - α L_c(G, H) \quad \text{(Eq. 5)}

    :math:`L_c` is the negated cross-entropy of the critic H: generator and critic work together. It counts from step
    `start` on, when the critic begins to learn, from fresh weights.

    Args:
        generator: Codes and noise to observations, before the likelihood's link.
        discriminator: Observations to a logit and to a guess of the codes; it must be spectrally normalised itself.
        critic: Two observations to a logit for each code: which one they share.
        code: How many codes Q guesses: the strand `codes`.
        noise: How many further latents nothing is asked of: the strand `noise`.
        information: The weight λ of Q's error, in the losses of both sides.
        contrast: The weight α of the regulariser.
        start: The step from which the regulariser counts.
        gap: How far apart, at least, the two images are in every code that they do not share, by step; below 2. The
            authors have `constant:0` for dSprites, and `drop:1.9:0:85000` for teapots.
        updates: How often the generator moves in a step, each time on a fresh batch.
        likelihood: Gives the link alone: bernoulli for images in [0, 1], normal for any rows.
    """

    def __init__(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        critic: nn.Module,
        *,
        code: int = 5,  # sizes, weights, rates and start are those of the authors' code for dSprites
        noise: int = 5,
        information: float = 0.05,
        contrast: float = 2.0,
        start: int = 288_000,
        gap: Schedule = Constant(0.0),
        updates: int = 2,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__(
            generator,
            discriminator,
            code=code,
            noise=noise,
            information=information,
            updates=updates,
            likelihood=likelihood,
        )
        require_nonnegative(contrast=contrast)
        at_first = float(gap(self.step))
        if start < 0 or not 0 <= at_first < 2:
            raise ValueError(
                f"start counts steps from 0 on, and gap lies from 0 to below 2; got {start} and {at_first:g}."
            )
        self.critic, self.contrast, self.start, self.gap = critic, contrast, start, gap

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        parts = super().parts(facts, wanted, settings)
        if "critic" in wanted:
            parts["critic"] = PairCritic(facts.shape, cls.setting(settings, "code"))
        return parts

    def loss(self, batch: Batch) -> Terms:
        parts = self.generator_terms(batch)
        parts["contrast"] = self.told_apart(*self.pairs(batch.x))
        begun = (self.step >= self.start).to(batch.x.dtype)
        total = parts["generator"] + self.information * parts["information"]
        return Terms(total + begun * self.contrast * parts["contrast"], parts)

    def critic_loss(self, batch: Batch) -> Terms:
        """What the critic minimises; no gradient reaches the generator."""
        with torch.no_grad():
            pairs = self.pairs(batch.x)
        return Terms(self.told_apart(*pairs), {})

    def pairs(self, like: Observations) -> tuple[Observations, Observations, Float[Tensor, "b d"]]:
        """Two images for each that share one code, and the noise, and which code it is, as zeros and a one."""
        z1, z2 = self.latents(like), self.latents(like)
        c, noise = z1.tensor_split([self.code], 1)
        c1, c2 = self.apart(c, z2[:, : self.code])
        u = share(joined(torch.rand, like, self.code))
        shared = u == u.amax(1, keepdim=True)
        z1, z2 = (torch.cat([torch.where(shared, c, own), noise], 1) for own in (c1, c2))
        x1, x2 = self.made(torch.cat([z1, z2])).chunk(2)
        return x1, x2, shared.to(like.dtype)

    def apart(self, c1: Codes, c2: Codes) -> tuple[Codes, Codes]:
        """Codes between -1 and 1, drawn nearer to 0 and then pushed away from each other, by half of the gap each."""
        half = self.gap(self.step).to(c1.dtype) / 2
        c1, c2 = (1 - half) * c1, (1 - half) * c2
        push = torch.where(c1 > c2, half, -half)
        return c1 + push, c2 - push

    def told_apart(self, x1: Observations, x2: Observations, shared: Float[Tensor, "b d"]) -> Scalar:
        """The cross-entropy of the critic."""
        logits = self.critic(x1, x2).to(x1.dtype)
        return -(F.log_softmax(logits, 1) * shared).sum(1).mean()

    def players(self) -> tuple[Player, ...]:
        critic = Player(
            "critic",
            self.critic.parameters(),
            self.critic_loss,
            Adam(rate=2e-3, beta1=0.5),
            start=self.start,
        )
        return (*super().players(), critic)
