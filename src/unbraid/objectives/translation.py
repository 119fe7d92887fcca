"""How hard it is to translate images with one feature set to a value into the same images with it set to another.
Unsupervised Disentanglement Learning by Intervention, 2021, Sec. 3 and Algorithm 1.

The translator is made anew for every pair of values and never kept. So it is a shape of networks. Its weights are one
vector, drawn on the device and handed through, so that a step of its training takes few kernels.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.objectives.likelihoods import Bernoulli, Likelihood
from unbraid.types import Observations, Scalar

Weights = Float[Tensor, " w"]
Learned = Float[Tensor, "n *shape"]  # observations to learn from, of all processes
Small = Float[Tensor, "b *small"]  # observations after shrinking
SIDE = 16  # pixels a side, at most, of the images that are translated
KEPT = 0.5  # how much of the input comes out at first
MARGIN = 0.02  # from black and white, of what comes out at first
BETAS = 0.9, 0.999  # Adam's
TINY = 1e-20  # keeps the root of a gradient that is zero differentiable


class Translator:
    """Observations to the parameters of others: a part of the input itself, and two fully connected layers on it.

    The paper says nothing of its layers. A fresh one gives the mean target with half of the input, from where a few
    steps tell an easy translation from a hard one.

    Args:
        shape: Of one observation.
        width: Of the hidden layer.
        shrink: By how much images are shrunk along each side first; by default as little as leaves 16 pixels, by a
            whole number where one leaves no side below 8. Each pixel left counts for those it stands for.
        likelihood: Whose parameters come out.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        width: int = 32,
        shrink: int | None = None,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        if width < 1:
            raise ValueError(f"A translator needs a width of at least 1; got {width}.")
        sides = shape[1:] if len(shape) == 3 else ()
        if shrink is None:
            small = _small(sides)
        elif shrink < 1 or (shrink > 1 and not sides) or any(side % shrink for side in sides):
            raise ValueError(
                f"Images are shrunk by what divides their height and width; got {shrink} for {shape}."
            )
        else:
            small = tuple(side // shrink for side in sides)
        self.shape = (*shape[:1], *small) if sides else shape
        self.width, self.likelihood = width, likelihood
        self.pixels = math.prod(self.shape)
        self.stands_for = math.prod(shape) / self.pixels  # of the observation's pixels, each that is left

    def difficulty(
        self,
        u: Learned,
        v: Learned,
        u_test: Observations,
        v_test: Observations,
        *,
        steps: int,
        rate: float,
        adam: bool = True,
        above_entropy: bool = True,
        unrolled: bool = False,
    ) -> Scalar:
        """How badly u_test is translated to v_test by a fresh translator that has learned from u to v (Algorithm 1).

        In nats per image, above those that v_test itself costs, or, as in Eq. 2, with them. `unrolled` keeps the way
        back through the steps to u and v; without, what was learned is constant.
        """
        u, v, u_test, v_test = map(self.shrunk, (u, v, u_test, v_test))
        weights = self.learn(u, v, steps=steps, rate=rate, adam=adam, unrolled=unrolled)
        loss = self.stands_for * self.loss(weights, u_test, v_test)
        return loss - self.entropy(v_test) if above_entropy else loss

    def mean_difficulty(self, v: Learned, v_test: Observations) -> Scalar:
        """The same of the mean of v, which knows nothing of what is translated."""
        v, v_test = self.shrunk(v), self.shrunk(v_test)
        mean = self.likelihood.parameters_of(v.mean(0)).expand_as(v_test)
        return self.stands_for * self.likelihood.nll(mean, v_test) - self.entropy(v_test)

    def shrunk(self, images: Observations) -> Small:
        """Images as the translator sees them."""
        sides, small = images.shape[2:], self.shape[1:]
        if sides == small:
            return images
        if all(side % to == 0 for side, to in zip(sides, small, strict=True)):
            return F.avg_pool2d(images, [side // to for side, to in zip(sides, small, strict=True)])
        down, across = (_averaging(*both, images) for both in zip(sides, small, strict=True))
        return down @ images @ across.mT

    def entropy(self, v: Observations) -> Scalar:
        """What shrunk images cost under the parameters that fit them best, in nats per image."""
        return self.stands_for * self.likelihood.nll(self.likelihood.parameters_of(v), v)

    def fresh(self, v: Observations) -> Weights:
        """New weights as PyTorch would draw them, but for the last bias, with which the mean of v comes out."""
        first, last = self.width * (self.pixels + 1), self.width * self.pixels
        drawn = 2 * torch.rand(first + last, device=v.device, dtype=v.dtype) - 1
        start = self.likelihood.parameters_of(v.mean(0), margin=MARGIN).flatten()
        first, last = drawn[:first] / math.sqrt(self.pixels), drawn[first:] / math.sqrt(self.width)
        return torch.cat([first, last, start, v.new_full((1,), KEPT)])

    def translate(self, weights: Weights, u: Observations) -> Observations:
        """The parameters of the translated observations."""
        _, out = self.activations(weights, u.flatten(1))
        return out.view_as(u)

    def activations(self, weights: Weights, u: Float[Tensor, "n p"]) -> tuple[Tensor, Float[Tensor, "n p"]]:
        """The hidden layer, and the parameters that come out."""
        first, shift, last, start, kept = self.layers(weights)
        hidden = F.linear(u, first, shift).relu()
        out = F.linear(hidden, last, start).to(u.dtype)
        return hidden, out + kept * self.likelihood.parameters_of(u, margin=MARGIN)

    def layers(self, weights: Weights) -> tuple[Tensor, ...]:
        """Weights as those of the first layer and its bias, of the last one and its bias, and of the input."""
        matrix = self.width * self.pixels
        first, shift, last, start, kept = weights.split([matrix, self.width, matrix, self.pixels, 1])
        return first.view(self.width, -1), shift, last.view(self.pixels, -1), start, kept

    def loss(self, weights: Weights, u: Observations, v: Observations) -> Scalar:
        """How badly u is translated to v with these weights (Eq. 2)."""
        return self.likelihood.nll(self.translate(weights, u), v)

    def gradient(self, weights: Weights, u: Observations, v: Observations) -> Weights:
        """That of the loss by the weights, written out: losses are compiled, and no graph is built within one."""
        u, last = u.flatten(1), self.layers(weights)[2]
        hidden, out = self.activations(weights, u)
        by_out = self.likelihood.slope(out, v.flatten(1))
        by_hidden = (by_out @ last) * (hidden > 0)
        by_first, by_last = by_hidden.mT @ u, by_out.mT @ hidden
        by_kept = (by_out * self.likelihood.parameters_of(u, margin=MARGIN)).sum()
        return torch.cat(
            [
                by_first.flatten(),
                by_hidden.sum(0),
                by_last.flatten(),
                by_out.sum(0),
                by_kept.view(1),
            ]
        ).to(weights.dtype)

    def learn(
        self,
        u: Observations,
        v: Observations,
        *,
        steps: int,
        rate: float,
        adam: bool = True,
        unrolled: bool = False,
    ) -> Weights:
        """Fresh weights after some steps (the loop of Algorithm 1): Adam's, or as printed those of plain descent.

        Descent is on the mean over pixels: on the sum of Eq. 2, plain steps would leap. `unrolled` keeps the way back
        through the steps to u and v.
        """
        if not unrolled:
            u, v = u.detach(), v.detach()
        weights = self.fresh(v)
        mean = square = torch.zeros_like(weights)
        for step in range(1, steps + 1):
            gradient = self.gradient(weights, u, v) / self.pixels
            if adam:
                mean = mean.lerp(gradient, 1 - BETAS[0])
                square = square.lerp(gradient.square(), 1 - BETAS[1])
                stride = rate * math.sqrt(1 - BETAS[1] ** step) / (1 - BETAS[0] ** step)
                weights = torch.addcdiv(weights, mean, (square + TINY).sqrt(), value=-stride)
            else:
                weights = weights - rate * gradient
        return weights


def two_of(rows: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "1 d"], Float[Tensor, "1 d"]]:
    """Two different rows, by random numbers that all processes share; of a single row, that one twice."""
    u = torch.rand(len(rows), device=rows.device)
    drawn = rows.index_select(0, u.topk(min(2, len(rows))).indices)
    return drawn[:1], drawn[-1:]


def _small(sides: tuple[int, ...]) -> tuple[int, ...]:
    """The sides of shrunk images: the longest, of at most 16, to which one whole number takes all, or 16."""
    for by in range(1, max(sides, default=1) + 1):
        small = tuple(side // by for side in sides)
        whole = all(side == by * to for side, to in zip(sides, small, strict=True))
        if whole and all(min(side, SIDE // 2) <= to <= SIDE for side, to in zip(sides, small, strict=True)):
            return small
    return tuple(min(side, SIDE) for side in sides)


def _averaging(side: int, to: int, like: Tensor) -> Float[Tensor, "to side"]:
    """What averages a side over equal parts of it; a pixel on an edge belongs to both in part."""
    edge = torch.arange(to + 1, device=like.device, dtype=like.dtype) * (side / to)
    pixel = torch.arange(side, device=like.device, dtype=like.dtype)
    overlap = torch.minimum(edge[1:, None], pixel + 1) - torch.maximum(edge[:-1, None], pixel)
    return overlap.clamp(min=0) * (to / side)
