"""The base class of InfoGAN and InfoGAN-CR: a generator, a discriminator with the head Q, and their losses."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.distributed import local_shard, random_for_global_batch
from unbraid.methods.base import BuildSpec, Method, Player
from unbraid.nn import Discriminator, Generator
from unbraid.objectives import Likelihood
from unbraid.optimizers import Adam
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, Scalar, Terms


class LatentGAN(Method[Batch]):
    """A generator of observations from codes and noise, both uniform between -1 and 1.

    `encode` returns the prediction of Q, with zeros in the noise dimensions.
    """

    family = "Interventions and GANs"
    code_size_options = ("code_dim", "noise_dim")

    def __init__(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        *,
        code_dim: int,
        noise_dim: int,
        lambda_info: float,
        updates_per_step: int,
        likelihood: Likelihood,
    ) -> None:
        super().__init__()
        require_nonnegative(lambda_info=lambda_info)
        if code_dim < 2 or noise_dim < 0 or updates_per_step < 1:
            raise ValueError(
                "code_dim must be at least 2, noise_dim at least 0 and updates_per_step at least 1; got "
                f"code_dim={code_dim}, noise_dim={noise_dim}, updates_per_step={updates_per_step}."
            )
        self.generator, self.discriminator, self.likelihood = generator, discriminator, likelihood
        self.code_dim, self.noise_dim = code_dim, noise_dim
        self.lambda_info, self.updates_per_step = lambda_info, updates_per_step
        noise = {"noise": range(code_dim, code_dim + noise_dim)} if noise_dim else {}
        strands = {"codes": range(code_dim)} | noise
        self._strands = Strands(strands, size=code_dim + noise_dim)

    @classmethod
    def default_arguments(
        cls, spec: BuildSpec, missing: Set[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        code_dim, noise_dim = cls.option(settings, "code_dim"), cls.option(settings, "noise_dim")
        arguments: dict[str, Any] = {}
        if "generator" in missing:
            arguments["generator"] = Generator(code_dim + noise_dim, spec.shape)
        if "discriminator" in missing:
            arguments["discriminator"] = Discriminator(spec.shape, code_dim)
        return arguments

    @property
    def strands(self) -> Strands:
        return self._strands

    def generator_terms(self, batch: Batch) -> dict[str, Scalar]:
        """-log D of generated observations, and -log Q of the codes that they were generated from."""
        z = self.sample_latents(batch.x)
        logits, predicted = self.discriminate(self.generate(z))
        return {"generator": F.softplus(-logits).mean(), "information": self.code_nll(predicted, z)}

    def discriminator_loss(self, batch: Batch) -> Terms:
        """The loss of the discriminator and Q, without gradients in the generator."""
        z = self.sample_latents(batch.x)
        with torch.no_grad():
            generated = self.generate(z)
        logits, predicted = self.discriminate(torch.cat([batch.x, generated]))
        real, fake = logits.chunk(2)
        adversarial = F.softplus(-real).mean() + F.softplus(fake).mean()
        code_nll = self.code_nll(predicted.chunk(2)[1], z)
        return Terms(
            adversarial + self.lambda_info * code_nll,
            {"adversarial": adversarial, "information": code_nll},
        )

    def generate(self, z: Codes) -> Observations:
        """Observations generated from codes and noise."""
        return self.likelihood.mean(self.decode_parameters(z))

    def decode_parameters(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        """The output of the generator, before the link function of the likelihood."""
        return self.generator(codes).to(codes.dtype)

    def discriminate(self, x: Observations) -> tuple[Float[Tensor, " b"], Codes]:
        """The logits of the discriminator and the prediction of Q, in the precision of x."""
        logits, predicted = self.discriminator(x)
        return logits.to(x.dtype), predicted.to(x.dtype)

    def code_nll(self, predicted: Codes, z: Float[Tensor, "b l"]) -> Scalar:
        """-log Q(c|x) with a standard deviation of 1, up to a constant: half the squared error of the code."""
        return 0.5 * (predicted - z[:, : self.code_dim]).square().sum(1).mean()

    def sample_latents(self, like: Observations) -> Codes:
        """Codes and noise, uniform between -1 and 1, with the batch size, dtype and device of `like`."""
        u = local_shard(random_for_global_batch(torch.rand, like, self.strands.size, dtype=like.dtype))
        return 2 * u - 1

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        _, predicted = self.discriminate(x)
        return F.pad(predicted, (0, self.noise_dim))

    def decode(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        return self.generate(codes)

    def sample_prior(self, size: int) -> Codes:
        """Codes and noise, uniform between -1 and 1."""
        return 2 * torch.rand(size, self.strands.size, device=self.step.device) - 1

    def players(self) -> tuple[Player, ...]:
        return (
            Player(
                "generator",
                self.generator.parameters(),
                self.loss,
                Adam(lr=1e-3, beta1=0.5),
                updates_per_step=self.updates_per_step,
            ),
            Player(
                "discriminator",
                self.discriminator.parameters(),
                self.discriminator_loss,
                Adam(lr=2e-3, beta1=0.5),
            ),
        )
