"""The translation difficulty: the loss of translating images with a feature set to one value into the same images with
the feature set to another. Unsupervised Disentanglement Learning by Intervention, 2021, Sec. 3 and Algorithm 1.

The translator is initialized for every pair of values and then discarded, so it is no `nn.Module`. Its weights are one
vector on the device, so that a training step launches few kernels.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from unbraid.objectives.elbo import Bernoulli, Likelihood
from unbraid.objectives.translator_spec import MLPTranslator, TranslatorSpec
from unbraid.types import Observations, Scalar

Weights = Float[Tensor, " w"]
TrainImages = Float[Tensor, "n *shape"]  # training observations of all processes
Downsampled = Float[Tensor, "b *small"]
MAX_SIDE = 16  # pixels per side of the downsampled images
SKIP_WEIGHT = 0.5  # initial weight of the input in the output
MARGIN = 0.02  # distance of the initial output from black and white
BETAS = 0.9, 0.999  # of Adam
EPS = 1e-20  # keeps the square root of a zero gradient differentiable


class Translator:
    """A network with one hidden layer and a weighted skip connection, whose output are parameters of a likelihood.

    The paper does not specify the network. At initialization the output is the mean target plus half of the input;
    from there, a few steps separate easy from hard translations. A `PlainTranslator` has neither: no skip connection,
    and all weights as PyTorch draws them.

    Args:
        shape: Shape of one observation.
        spec: Width, training steps, optimizer, learning rate, and the factor by which images are downsampled along
            each side. A factor of 0 stands for the smallest that leaves at most 16 pixels, a whole number where no side
            falls below 8. Each remaining pixel is weighted by the number of pixels that it replaces.
        likelihood: Likelihood of the target images.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        spec: TranslatorSpec = MLPTranslator(),
        *,
        likelihood: Likelihood = Bernoulli(),
    ) -> None:
        sides = shape[1:] if len(shape) == 3 else ()
        by = spec.downsample
        if not by:
            small = _downsampled_sides(sides)
        elif (by > 1 and not sides) or any(side % by for side in sides):
            raise ValueError(
                f"The downsampling factor must divide the height and width of images; got {by} for {shape}."
            )
        else:
            small = tuple(side // by for side in sides)
        self.shape = (*shape[:1], *small) if sides else shape
        self.spec, self.likelihood = spec, likelihood
        self.pixels = math.prod(self.shape)
        self.pixel_weight = math.prod(shape) / self.pixels  # pixels of the observation per downsampled pixel

    def difficulty(
        self,
        u: TrainImages,
        v: TrainImages,
        u_test: Observations,
        v_test: Observations,
        *,
        subtract_entropy: bool = True,
        unrolled: bool = False,
    ) -> Scalar:
        """The loss on translating u_test to v_test after training a new translator on u and v (Algorithm 1).

        In nats per image; the entropy of v_test is subtracted, unlike in Eq. 2, where asked. `unrolled` keeps the
        graph through the training steps to u and v; otherwise the trained weights are constants.
        """
        u, v, u_test, v_test = map(self.downsample, (u, v, u_test, v_test))
        weights = self.adapt(u, v, unrolled=unrolled)
        loss = self.pixel_weight * self.loss(weights, u_test, v_test)
        return loss - self.entropy(v_test) if subtract_entropy else loss

    def mean_difficulty(self, v: TrainImages, v_test: Observations) -> Scalar:
        """The difficulty of a constant translation, the mean of v."""
        v, v_test = self.downsample(v), self.downsample(v_test)
        mean = self.likelihood.parameters_of(v.mean(0)).expand_as(v_test)
        return self.pixel_weight * self.likelihood.nll(mean, v_test) - self.entropy(v_test)

    def downsample(self, images: Observations) -> Downsampled:
        """Images at the resolution of the translator."""
        sides, small = images.shape[2:], self.shape[1:]
        if sides == small:
            return images
        if all(side % to == 0 for side, to in zip(sides, small, strict=True)):
            return F.avg_pool2d(images, [side // to for side, to in zip(sides, small, strict=True)])
        down, across = (_averaging(*both, images) for both in zip(sides, small, strict=True))
        return down @ images @ across.mT

    def entropy(self, v: Observations) -> Scalar:
        """The negative log-likelihood of downsampled images under their best parameters, in nats per image."""
        return self.pixel_weight * self.likelihood.nll(self.likelihood.parameters_of(v), v)

    def init_weights(self, v: Observations) -> Weights:
        """New weights as PyTorch draws them, but the last bias of an informed translator gives the mean of v."""
        informed = self.spec.informed
        first, last = self.spec.width * (self.pixels + 1), self.spec.width * self.pixels
        count = first + last + (0 if informed else self.pixels)
        drawn = 2 * torch.rand(count, device=v.device, dtype=v.dtype) - 1
        first, last = drawn[:first] / math.sqrt(self.pixels), drawn[first:] / math.sqrt(self.spec.width)
        if not informed:
            return torch.cat([first, last])
        start = self.likelihood.parameters_of(v.mean(0), margin=MARGIN).flatten()
        return torch.cat([first, last, start, v.new_full((1,), SKIP_WEIGHT)])

    def translate(self, weights: Weights, u: Observations) -> Observations:
        """The parameters of the translated observations."""
        _, out = self.activations(weights, u.flatten(1))
        return out.view_as(u)

    def activations(self, weights: Weights, u: Float[Tensor, "n p"]) -> tuple[Tensor, Float[Tensor, "n p"]]:
        """The activations of the hidden layer and the output parameters."""
        first, shift, last, start, skip = self.layers(weights)
        hidden = F.linear(u, first, shift).relu()
        out = F.linear(hidden, last, start).to(u.dtype)
        return hidden, out + skip * self.likelihood.parameters_of(u, margin=MARGIN) if len(skip) else out

    def layers(self, weights: Weights) -> tuple[Tensor, ...]:
        """Weight and bias of the first layer, weight and bias of the last, and the weight of the skip connection, of
        which a plain translator has none."""
        matrix, skips = self.spec.width * self.pixels, int(self.spec.informed)
        first, shift, last, start, skip = weights.split([matrix, self.spec.width, matrix, self.pixels, skips])
        return first.view(self.spec.width, -1), shift, last.view(self.pixels, -1), start, skip

    def loss(self, weights: Weights, u: Observations, v: Observations) -> Scalar:
        """The loss on translating u to v with the weights (Eq. 2)."""
        return self.likelihood.nll(self.translate(weights, u), v)

    def gradient(self, weights: Weights, u: Observations, v: Observations) -> Weights:
        """The gradient of the loss with respect to the weights, written out: a compiled loss builds no inner graph."""
        u, last = u.flatten(1), self.layers(weights)[2]
        hidden, out = self.activations(weights, u)
        by_out = self.likelihood.nll_gradient(out, v.flatten(1))
        by_hidden = (by_out @ last) * (hidden > 0)
        by_first, by_last = by_hidden.mT @ u, by_out.mT @ hidden
        by_layer = [by_first.flatten(), by_hidden.sum(0), by_last.flatten(), by_out.sum(0)]
        if self.spec.informed:
            by_layer.append((by_out * self.likelihood.parameters_of(u, margin=MARGIN)).sum().view(1))
        return torch.cat(by_layer).to(weights.dtype)

    def adapt(self, u: Observations, v: Observations, *, unrolled: bool = False) -> Weights:
        """New weights after some steps (the loop of Algorithm 1) of Adam, or of gradient descent as in the paper.

        The steps minimize the mean over pixels, those of a plain translator the sum of Eq. 2, which needs a far smaller
        learning rate. `unrolled` keeps the graph through the steps to u and v.
        """
        if not unrolled:
            u, v = u.detach(), v.detach()
        weights = self.init_weights(v)
        mean = square = torch.zeros_like(weights)
        for step in range(1, self.spec.steps + 1):
            gradient = self.gradient(weights, u, v) / (self.pixels if self.spec.per_pixel else 1)
            if self.spec.adam:
                mean = mean.lerp(gradient, 1 - BETAS[0])
                square = square.lerp(gradient.square(), 1 - BETAS[1])
                step_size = self.spec.lr * math.sqrt(1 - BETAS[1] ** step) / (1 - BETAS[0] ** step)
                weights = torch.addcdiv(weights, mean, (square + EPS).sqrt(), value=-step_size)
            else:
                weights = weights - self.spec.lr * gradient
        return weights


def two_rows(rows: Float[Tensor, "b d"]) -> tuple[Float[Tensor, "1 d"], Float[Tensor, "1 d"]]:
    """Two different rows, drawn with random numbers that all processes share; a single row is returned twice."""
    u = torch.rand(len(rows), device=rows.device)
    drawn = rows.index_select(0, u.topk(min(2, len(rows))).indices)
    return drawn[:1], drawn[-1:]


def _downsampled_sides(sides: tuple[int, ...]) -> tuple[int, ...]:
    """The sides of downsampled images: the longest up to 16 that one whole factor gives for all sides, otherwise 16."""
    for by in range(1, max(sides, default=1) + 1):
        small = tuple(side // by for side in sides)
        divides = all(side == by * to for side, to in zip(sides, small, strict=True))
        if divides and all(
            min(side, MAX_SIDE // 2) <= to <= MAX_SIDE for side, to in zip(sides, small, strict=True)
        ):
            return small
    return tuple(min(side, MAX_SIDE) for side in sides)


def _averaging(side: int, to: int, like: Tensor) -> Float[Tensor, "to side"]:
    """The matrix that averages a side over equal intervals; a pixel on an edge belongs to both in part."""
    edge = torch.arange(to + 1, device=like.device, dtype=like.dtype) * (side / to)
    pixel = torch.arange(side, device=like.device, dtype=like.dtype)
    overlap = torch.minimum(edge[1:, None], pixel + 1) - torch.maximum(edge[:-1, None], pixel)
    return overlap.clamp(min=0) * (to / side)
