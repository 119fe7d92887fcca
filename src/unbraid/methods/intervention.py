"""Intervention autoencoder. Unsupervised Disentanglement Learning by Intervention, 2021."""

import functools
from collections.abc import Mapping, Set
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from unbraid.distributed import gather, joined, share
from unbraid.methods.base import Facts, Method, Player
from unbraid.methods.predictor import require_codes
from unbraid.methods.turns import Turns
from unbraid.nn import Encoder, Features, Joined, judge
from unbraid.nn.batch_norm import keeping_statistics
from unbraid.objectives import (
    Bernoulli,
    Likelihood,
    Translator,
    adversarial_terms,
    count_active,
    kl_per_code,
    normalised_weights,
    shares_of_change,
    two_of,
)
from unbraid.optimisers import Adam
from unbraid.schedules import Schedule
from unbraid.settings import require_nonnegative
from unbraid.strands import Strands, feature_strands
from unbraid.types import Batch, Codes, Gaussian, Observations, Scalar, Terms

GUARD = 1000.0  # nats for all of the variance, missing


class Intervention(Method[Batch]):
    r"""Autoencoder of K features of D dimensions: one of them, taken from another image, must give an image that
    could be real, and put back, the first one.

    .. math:: \min_{Enc, Dec, W} \max_{Disc} L_{rec} + λ_1 L_{in} + λ_2 L_{adv} + λ_3 L_{diff}
              \quad \text{(Eq. 3)}

    :math:`L_{in}` is the cross-entropy of an image under what is decoded after two interventions: feature k set to
    that of another image, decoded, encoded again, and set back. :math:`L_{adv} = E[\log Disc(\hat x) + W / N
    \log(1 - Disc(\hat x(Z_k = z_k^r)))]`, where W / N reweighs intervened images, since correlated factors make their
    distribution another one (Prop. 2). :math:`L_{diff}` is how badly a fresh translator, after a few steps, turns
    images with feature k set to one value into those with it set to another (Algorithm 1).

    Args:
        encoder: Observations to codes; needs attributes `codes` and `shape`.
        decoder: Codes to the parameters of p(x|z).
        discriminator: Observations to a logit: reconstructed, or intervened on.
        weights: Observations to the logarithm of their weight W.
        features: K, how many features the code has.
        dimensions: D, of each feature.
        reconstruct: Whether the plain reconstruction counts; without, double interventions alone tie codes to images.
        undo: The weight λ1 of the double intervention, which sets a feature and sets it back; 0 leaves it out, as for
            the next two.
        adversary: The weight λ2 of the adversarial loss.
        translation: The weight λ3 of the translation's difficulty.
        reweigh: Whether intervened images are weighted; without, all have weight 1.
        saturating: Whether the autoencoder minimises log(1 - Disc) as the paper has it, or -log Disc, whose gradient
            does not vanish where the discriminator is sure.
        real_gradient: Whether the adversarial loss also reaches the autoencoder through the images taken as real.
        bottleneck: The weight of the KL divergence of a Gaussian posterior, from which codes are then drawn; 0 for
            codes without noise, as the paper has them.
        opening: What the bottleneck's weight is multiplied with, by step, such as geometric:10:1:10000, which opens it
            slowly.
        free: How many features may carry anything, by step and rounded down, such as linear:2:10:8000, and at least
            one; the others are held at zero. What is left to explain then goes into the next feature, and not into
            several. By default all of them, from the start.
        settled: Whether a feature stays as it is, its mean, once the next one is free, which then learns what is left;
            each has an encoder of its own. Needs --free, and a bottleneck.
        least: What a code must tell of an image to be encoded once training has ended: its KL divergence in nats,
            averaged over the last hundred steps or so. Codes that tell less are zero; what trace of a factor is left
            in them would count in full where codes are standardised. Needs a bottleneck.
        guard: The share of the images' variance that setting a feature must make at least; what is missing of it is
            a loss, so that no feature is dead and the others do its work. 0 leaves features free to die.
        inner_steps: How many steps the translator makes, s.
        inner_rate: Their rate α, on the mean over pixels.
        inner_width: Of the translator's hidden layer.
        inner_shrink: By how much images are shrunk along each side before they are translated; by default as little as
            leaves 16 pixels, by a whole number where one leaves no side below 8. Each pixel left counts for those it
            stands for.
        inner_adam: Whether the translator's steps are Adam's, or those of plain gradient descent, as printed.
        above_entropy: Whether what the targets themselves cost is taken off L_diff. Its gradient, in Eq. 2, drives
            pixels to black and white, translated right or not.
        unrolled: Whether gradients pass through the translator's steps; without, its weights are constants.
        likelihood: The family p(x|z): bernoulli, or normal:SIGMA.
    """

    told: Tensor | None
    sizes_strands = True
    sized_by = "--features × --dimensions"
    fewest_batches = 2  # Algorithm 1 has one to train the translator and another to test it

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        discriminator: nn.Module,
        weights: nn.Module,
        *,
        features: int = 10,  # Sec. 5.2, as all defaults: dSprites and 3D Shapes
        dimensions: int = 1,
        reconstruct: bool = True,
        undo: float = 0.25,
        adversary: float = 10.0,
        translation: float = 1.0,
        reweigh: bool = True,
        saturating: bool = True,
        real_gradient: bool = False,
        bottleneck: float = 0.0,
        opening: Schedule | None = None,
        free: Schedule | None = None,
        settled: bool = False,
        least: float = 0.0,
        guard: float = 0.0,
        inner_steps: int = 5,  # the paper gives neither steps, rate nor layers
        inner_rate: float = 0.05,
        inner_width: int = 32,
        inner_shrink: int | None = None,
        inner_adam: bool = True,
        above_entropy: bool = True,
        unrolled: bool = False,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        super().__init__()
        require_nonnegative(undo=undo, adversary=adversary, translation=translation)
        require_nonnegative(bottleneck=bottleneck, least=least, guard=guard, inner_rate=inner_rate)
        if features < 2 or dimensions < 1 or inner_steps < 1:
            raise ValueError(
                "The code needs at least 2 features of at least 1 dimension, and the translator 1 step; got "
                f"features={features}, dimensions={dimensions}, inner_steps={inner_steps}."
            )
        if opening is not None and not bottleneck:
            raise ValueError(
                "The opening needs a bottleneck to open; give --bottleneck its weight at the end."
            )
        if least and not bottleneck:
            raise ValueError(
                "Without a bottleneck no one knows what a feature tells; give --bottleneck a weight, or leave --least "
                "at 0."
            )
        if settled and (free is None or not bottleneck):
            raise ValueError(
                "Features settle when the next one is freed, each with what the bottleneck lets through; give --free a "
                "schedule and --bottleneck a weight."
            )
        require_codes(encoder, features * dimensions)
        if (taken := getattr(decoder, "codes", features * dimensions)) != features * dimensions:
            raise ValueError(
                f"{features} features of {dimensions} dimensions are {features * dimensions} codes, and the decoder "
                f"takes {taken}: give a decoder of {features * dimensions} codes."
            )
        if isinstance(encoder, Encoder) and not bottleneck:
            raise ValueError(
                "Without a bottleneck the code has no spread: give unbraid.nn.Features of an encoder, or a bottleneck."
            )
        own = [part.codes for part in encoder.encoders] if isinstance(encoder, Joined) else []
        if settled and own != [dimensions] * features:
            raise ValueError(
                f"Settled features need an encoder each: unbraid.nn.Joined of {features} encoders with {dimensions} "
                f"codes each; got {type(encoder).__name__}{f' of {own}' if own else ''}."
            )
        self.encoder, self.decoder, self.likelihood = encoder, decoder, likelihood
        self.discriminator, self.weights = discriminator, weights
        self.features, self.dimensions = features, dimensions
        self.undo, self.adversary, self.translation = undo, adversary, translation  # λ1, λ2 and λ3
        self.reconstruct = reconstruct
        self.reweigh, self.saturating, self.real_gradient = reweigh, saturating, real_gradient
        self.bottleneck, self.opening, self.least, self.guard = bottleneck, opening, least, guard
        told = torch.zeros(features * dimensions) if least else None
        self.register_buffer("told", told)  # by each code, in nats
        self.inner_steps, self.inner_rate, self.inner_adam = inner_steps, inner_rate, inner_adam
        self.above_entropy, self.unrolled = above_entropy, unrolled
        self._strands, self._turns = (
            feature_strands(features, dimensions),
            Turns(features, dimensions, free, settled),
        )
        shape: tuple[int, ...] = encoder.shape  # type: ignore[assignment]
        self._translator = Translator(shape, width=inner_width, shrink=inner_shrink, likelihood=likelihood)

    @classmethod
    def parts(cls, facts: Facts, wanted: Set[str], settings: Mapping[str, Any]) -> dict[str, Any]:
        features, dimensions = (cls.setting(settings, name) for name in ("features", "dimensions"))
        facts = facts._replace(codes=features * dimensions)
        parts = super().parts(facts, wanted | {"encoder"}, settings)
        for name in ("discriminator", "weights"):
            if name in wanted:
                parts[name] = judge(parts["encoder"])
        if cls.setting(settings, "settled") and "encoder" in wanted:
            facts = facts._replace(codes=dimensions)
            own = (
                super(Intervention, cls).parts(facts, {"encoder"}, settings)["encoder"]
                for _ in range(features)
            )
            parts["encoder"] = functools.reduce(Joined, own)
        elif not cls.setting(settings, "bottleneck"):
            parts["encoder"] = Features(parts["encoder"])
        return parts

    @property
    def strands(self) -> Strands:
        return self._strands

    @property
    def blocks(self) -> tuple[str, ...]:
        """The features, where they have several dimensions."""
        return tuple(self.strands)[1:]

    def loss(self, batch: Batch, other: Batch | None = None) -> Terms:
        if other is None:  # a batch alone is cut in halves, and of an odd one the last is left out
            half = len(batch.x) // 2
            batch, other = Batch(batch.x[:half]), Batch(batch.x[half : 2 * half])
        z, z_r, kl = self.drawn(batch, other)
        chosen = self.choose(z)
        z_do = torch.where(chosen, z_r, z)  # Z_k = z_k^r
        decoded = self.decoded(torch.cat([z, z_do]))
        parameters, _ = decoded.chunk(2)
        x_hat, x_do = self.likelihood.mean(decoded).chunk(2)
        rec = self.likelihood.nll(parameters, batch.x)
        parts, total = {"nll": rec}, rec if self.reconstruct else torch.zeros_like(rec)
        if self.undo:
            with keeping_statistics(self.encoder, self.decoder):
                back = torch.where(chosen, z, self.encode(x_do))  # Z_k = z_k again
                parts["undo"] = self.likelihood.nll(self.decoded(back), batch.x)
            total = total + self.undo * parts["undo"]
        if self.adversary:
            real = x_hat if self.real_gradient else None  # its term would be constant
            parts["adversary"] = self.adversarial(real, x_do, saturating=self.saturating)
            total = total + self.adversary * parts["adversary"]
        if self.translation:
            parts["translation"] = self.difficulty(z, z_r)
            total = total + self.translation * parts["translation"]
        if kl is not None:
            self.listen(kl)
            parts["kl"] = kl.sum()
            weight = self.bottleneck if self.opening is None else self.bottleneck * self.opening(self.step)
            total = total + weight * parts["kl"]
        change = x_do - x_hat
        shares = shares_of_change(
            chosen[:, :: self.dimensions], change if self.guard else change.detach(), batch.x
        )
        if self.guard:
            total = total + GUARD * self.missing(shares)
        parts["active"] = count_active(shares)
        return Terms(total, parts, kept=(x_hat.detach(), x_do.detach()))

    def discriminator_loss(
        self, batch: Batch, other: Batch, x_hat: Observations | None = None, x_do: Observations | None = None
    ) -> Terms:
        """What the discriminator minimises: the adversarial loss, negated; no gradient reaches the others.

        Reconstructions and intervened images may be given: those that the autoencoder learned from.
        """
        with torch.no_grad():
            if x_hat is None or x_do is None:
                x_hat, x_do = self.intervened(batch, other)
            log_w = self.log_weights(x_do)
        return Terms(-self.adversarial(x_hat, x_do, log_w), {})

    def weights_loss(
        self, batch: Batch, other: Batch, x_hat: Observations | None = None, x_do: Observations | None = None
    ) -> Terms:
        """What the weight network minimises: what of the adversarial loss its weights change."""
        if x_do is None:
            with torch.no_grad():
                _, x_do = self.intervened(batch, other)
        log_w = self.log_weights(x_do)
        largest = gather(normalised_weights(log_w).detach()).amax()
        return Terms(self.adversarial(None, x_do, log_w), {"largest": largest})

    def intervened(self, batch: Batch, other: Batch) -> tuple[Observations, Observations]:
        """Reconstructions, and what is decoded with one feature of each set to that of the other image."""
        z, z_r, _ = self.drawn(batch, other)
        z_do = torch.where(self.choose(z), z_r, z)
        x_hat, x_do = self.likelihood.mean(self.decoded(torch.cat([z, z_do]))).chunk(2)
        return x_hat, x_do

    def drawn(self, batch: Batch, other: Batch) -> tuple[Codes, Codes, Float[Tensor, " d"] | None]:
        """The codes of both batches, by one joined forward; with a bottleneck drawn from the posterior, and the KL
        divergence of each."""
        if not self.bottleneck:
            z, z_r = self.encode(torch.cat([batch.x, other.x])).chunk(2)
            return z, z_r, None
        mean, logvar = (part.to(batch.x.dtype) for part in self.encoder(torch.cat([batch.x, other.x])))
        q, q_r = map(Gaussian, self.held(mean).chunk(2), self.held(logvar).chunk(2))
        return self.sampled(q), self.sampled(q_r), kl_per_code(q)

    def sampled(self, q: Gaussian) -> Codes:
        """Codes drawn from posteriors, but settled ones their means: what noise hides of a settled feature, the next
        one would tell again."""
        settled = self._turns.codes_of(self._turns.settled_features(self.step))
        return self.held(torch.where(settled, q.mean, q.sample()))

    def missing(self, shares: Float[Tensor, " k"]) -> Scalar:
        """What features lack of the share of the variance that each must make, those that are free."""
        return ((self.guard - shares).relu() * self._turns.free_features(self.step)[0]).sum()

    def adversarial(
        self,
        x_hat: Observations | None,
        x_do: Observations,
        log_w: Float[Tensor, " b"] | None = None,
        *,
        saturating: bool = True,
    ) -> Scalar:
        """L_adv. The second Disc and W of the printed equation see the intervened image.

        Without reconstructions only what depends on intervened images is left.
        """
        seen = [x_do] if x_hat is None else [x_do, x_hat]
        logits = self.discriminator(torch.cat(seen)).to(x_do.dtype)[:, 0]
        fake, real = logits[: len(x_do)], None if x_hat is None else logits[len(x_do) :]
        w = normalised_weights(self.log_weights(x_do) if log_w is None else log_w)
        return adversarial_terms(real, fake, w, saturating=saturating)

    def log_weights(self, x: Observations) -> Float[Tensor, " b"]:
        """log W of each image; 0 where images are not weighted."""
        return self.weights(x).to(x.dtype)[:, 0] if self.reweigh else x.new_zeros(len(x))

    def difficulty(self, z: Codes, z_test: Codes) -> Scalar:
        """L_diff: one feature, two of its values from different images, a fresh translator (Algorithm 1)."""
        a, b = two_of(gather(z))
        chosen = self.one_free(torch.rand(1, self.features, device=z.device)).expand(len(z), -1)
        train, test = (
            [torch.where(chosen, value.expand_as(codes), codes) for value in (a, b)] for codes in (z, z_test)
        )
        with keeping_statistics(self.decoder):
            images = self.likelihood.mean(self.decoded(torch.cat([*train, *test])))
        u, v, u_test, v_test = images.chunk(4)
        return self._translator.difficulty(
            gather(u),
            gather(v),
            u_test,
            v_test,
            steps=self.inner_steps,
            rate=self.inner_rate,
            adam=self.inner_adam,
            above_entropy=self.above_entropy,
            unrolled=self.unrolled,
        )

    def choose(self, z: Codes) -> Bool[Tensor, "b d"]:
        """The dimensions of one feature for each image, all free features equally often."""
        return self.one_free(share(joined(torch.rand, z, self.features)))

    def one_free(self, u: Float[Tensor, "b k"]) -> Bool[Tensor, "b d"]:
        """The dimensions of the free feature with the largest number, of numbers from 0 to 1."""
        u = torch.where(self._turns.free_features(self.step), u, -1)
        return self._turns.codes_of(u == u.amax(1, keepdim=True))

    def held(self, codes: Float[Tensor, "b d"]) -> Float[Tensor, "b d"]:
        """As far as features may carry something, and learn, at this step; of settled ones what will be encoded."""
        codes = self._turns.held(codes, self.step)
        if self.told is None:
            return codes
        waived = self._turns.codes_of(self._turns.settled_features(self.step)) & (self.told < self.least)
        return codes * (~waived).to(codes.dtype)

    def listen(self, kl: Float[Tensor, " d"]) -> None:
        """Keeps in mind what each code tells."""
        if self.told is not None and self.training:
            self.told.lerp_(gather(kl.detach()[None]).mean(0).to(self.told.dtype), 0.01)

    def encode(self, x: Observations, given: Tensor | None = None) -> Codes:
        out = self.encoder(x)
        codes = self.held((out[0] if self.bottleneck else out).to(x.dtype))
        if self.told is None or self.training:
            return codes
        return codes * (self.told >= self.least).to(codes.dtype)

    def decode(self, codes: Codes, given: Tensor | None = None) -> Observations:
        return self.likelihood.mean(self.decoded(codes, given))

    def decoded(self, codes: Codes, given: Tensor | None = None) -> Observations:
        """What the decoder puts out: the parameters of p(x|z)."""
        return self.decoder(codes).to(codes.dtype)

    def prior(self, size: int) -> Codes:
        """Standard normal codes, where a bottleneck makes them so."""
        if not self.bottleneck:
            raise ValueError(
                "The intervention autoencoder has no prior to draw codes from: encode images, or train it with a "
                "bottleneck."
            )
        return super().prior(size)

    def players(self) -> tuple[Player, ...]:
        autoencoder = [*self.encoder.parameters(), *self.decoder.parameters()]
        taken: dict[str, Any] = {"batches": 2, "takes": "autoencoder"}
        discriminator, weights = self.discriminator.parameters(), self.weights.parameters()
        players = (
            Player("autoencoder", autoencoder, self.loss, batches=2, resting=self.resting),
            Player("discriminator", discriminator, self.discriminator_loss, **taken),
            Player("weights", weights, self.weights_loss, Adam(rate=1e-5), **taken),  # App. C
        )
        return players[: 1 if not self.adversary else 3 if self.reweigh else 2]

    def resting(self, step: int) -> list[nn.Parameter]:
        """The encoders of features that wait for their turn to settle, or have settled."""
        if not (self._turns.settle and isinstance(self.encoder, Joined)):
            return []
        learn = self._turns.learning_features(torch.tensor(step))[0].tolist()
        resting = (own for own, learns in zip(self.encoder.encoders, learn, strict=True) if not learns)
        return [parameter for own in resting for parameter in own.parameters()]

    def validation(self, batch: Batch) -> Terms:
        """How well held-out observations are reconstructed."""
        nll = self.likelihood.nll(self.decoded(self.encode(batch.x)), batch.x)
        return Terms(nll, {"nll": nll})
