"""What InfoGAN and InfoGAN-CR share: a generator, a discriminator that also guesses the codes, and their losses."""

from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.distributed import joined, share
from unbraid.methods.base import Facts, Method, Player
from unbraid.nn import Discriminator, Generator
from unbraid.objectives import Likelihood
from unbraid.optimisers import Adam
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, Observations, Scalar, Terms


class LatentGAN(Method[Batch]):
    """A method that makes observations of codes and noise, both uniform between -1 and 1.

    Its code is what Q guesses of an observation; the noise, which nothing guesses, is put out as zeros.
    """

    sizes_strands = True

    def __init__(
        self,
        generator: nn.Module,
        discriminator: nn.Module,
        *,
        code: int,
        noise: int,
        information: float,
        updates: int,
        likelihood: Likelihood,
    ) -> None:
        super().__init__()
        require_nonnegative(information=information)
        if code < 2 or noise < 0 or updates < 1:
            raise ValueError(
                "There must be at least 2 codes, 0 of noise and 1 update a step; got "
                f"code={code}, noise={noise}, updates={updates}."
            )
        self.generator, self.discriminator, self.likelihood = generator, discriminator, likelihood
        self.code, self.noise, self.information, self.updates = code, noise, information, updates
        strands = {"codes": range(code)} | ({"noise": range(code, code + noise)} if noise else {})
        self._strands = Strands(strands, size=code + noise)

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        code, noise = cls.setting(settings, "code"), cls.setting(settings, "noise")
        parts: dict[str, Any] = {}
        if "generator" in wanted:
            parts["generator"] = Generator(code + noise, facts.shape)
        if "discriminator" in wanted:
            parts["discriminator"] = Discriminator(facts.shape, code)
        return parts

    @property
    def strands(self) -> Strands:
        return self._strands

    def generator_terms(self, batch: Batch) -> dict[str, Scalar]:
        """How sure the discriminator is that what is made is made, and how badly Q guesses its codes."""
        z = self.latents(batch.x)
        logits, guess = self.judge(self.made(z))
        return {"generator": F.softplus(-logits).mean(), "information": self.error(guess, z)}

    def discriminator_loss(self, batch: Batch) -> Terms:
        """What discriminator and Q minimise; no gradient reaches the generator."""
        z = self.latents(batch.x)
        with torch.no_grad():
            made = self.made(z)
        logits, guess = self.judge(torch.cat([batch.x, made]))
        real, fake = logits.chunk(2)
        adversary = F.softplus(-real).mean() + F.softplus(fake).mean()
        error = self.error(guess.chunk(2)[1], z)
        return Terms(adversary + self.information * error, {"adversary": adversary, "information": error})

    def made(self, z: Codes) -> Observations:
        """The observations of latents."""
        return self.likelihood.mean(self.decoded(z))

    def decoded(self, codes: Codes, given: Tensor | None = None) -> Observations:
        """What the generator puts out, before the likelihood's link."""
        return self.generator(codes).to(codes.dtype)

    def judge(self, x: Observations) -> tuple[Float[Tensor, " b"], Codes]:
        """The discriminator's logits and Q's guess, in the precision of x."""
        logits, guess = self.discriminator(x)
        return logits.to(x.dtype), guess.to(x.dtype)

    def error(self, guess: Codes, z: Float[Tensor, "b l"]) -> Scalar:
        """-log Q(c|x) with a spread of 1, up to a constant: half the squared error, summed over codes."""
        return 0.5 * (guess - z[:, : self.code]).square().sum(1).mean()

    def latents(self, like: Observations) -> Codes:
        """Codes and noise for as many observations, uniform between -1 and 1."""
        return 2 * share(joined(torch.rand, like, self.strands.size, dtype=like.dtype)) - 1

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        _, guess = self.judge(x)
        return F.pad(guess, (0, self.noise))

    def decode(self, codes: Codes, given: Tensor | None = None) -> Observations:
        return self.made(codes)

    def prior(self, size: int) -> Codes:
        """Uniform between -1 and 1."""
        return 2 * torch.rand(size, self.strands.size, device=self.step.device) - 1

    def players(self) -> tuple[Player, ...]:
        return (
            Player(
                "generator",
                self.generator.parameters(),
                self.loss,
                Adam(rate=1e-3, beta1=0.5),
                updates=self.updates,
            ),
            Player(
                "discriminator",
                self.discriminator.parameters(),
                self.discriminator_loss,
                Adam(rate=2e-3, beta1=0.5),
            ),
        )
