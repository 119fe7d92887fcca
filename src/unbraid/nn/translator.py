"""The translator of Unsupervised Disentanglement Learning by Intervention, 2021, Sec. 3: from an image with one
feature set to a value to the same image with that feature set to another.

It is made anew in every step of training and never kept. So it is a shape of networks, and its weights are drawn on
the device and handed through.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from unbraid.nn.halving import Doubling, Halving
from unbraid.types import Observations, Scalar

Weights = dict[str, Tensor]
Loss = Callable[[Observations, Observations], Scalar]  # of the parameters of p(v|u) and v, in nats
FEWEST = 4  # pixels a side below which nothing is halved


class Translator(nn.Module):
    """Observations to the parameters of others: convolutions down to a bottleneck, and back. The paper says nothing
    of its layers.

    Args:
        shape: Of one observation; images of an even side are halved as often as they can be, others laid out flat.
        width: Channels of the first convolution; half of those of the others, and an eighth of the bottleneck.
    """

    def __init__(self, shape: tuple[int, ...], *, width: int = 16) -> None:
        super().__init__()
        if width < 1:
            raise ValueError(f"A translator needs a width of at least 1; got {width}.")
        down: list[nn.Module] = []
        up: list[nn.Module] = []
        maps = shape
        while len(maps) == 3 and maps[1] == maps[2] and maps[1] % 2 == 0 and maps[1] > FEWEST:
            channels = width if not down else 2 * width
            down += [Halving(maps[0], channels), nn.ReLU()]
            up = [nn.ReLU(), Doubling(channels, maps[0]), *up]
            maps = (channels, maps[1] // 2, maps[2] // 2)
        flat, neck = math.prod(maps), 8 * width
        self.layers = nn.Sequential(
            *down,
            *(nn.Flatten(), nn.Linear(flat, neck), nn.ReLU(), nn.Linear(neck, flat), nn.Unflatten(1, maps)),
            *up,
        )

    def forward(self, u: Observations) -> Observations:
        return self.layers(u)

    def fresh(self, like: Tensor) -> Weights:
        """New weights as PyTorch would draw them, on the device and in the precision of a tensor."""
        shapes, reach = {}, []
        for name, layer in self.layers.named_children():
            if isinstance(layer, nn.Linear | nn.Conv2d | nn.ConvTranspose2d):
                for part, parameter in layer.named_parameters():
                    shapes[f"layers.{name}.{part}"] = parameter.shape
                    reach.append(1 / math.sqrt(layer.weight[0].numel()))
        counts = [shape.numel() for shape in shapes.values()]
        drawn = 2 * torch.rand(sum(counts), device=like.device, dtype=like.dtype) - 1
        scaled = torch._foreach_mul(drawn.split(counts), reach)  # type: ignore[attr-defined]  # one kernel for all
        return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), scaled, strict=True)}

    def loss(self, weights: Weights, u: Observations, v: Observations, nll: Loss) -> Scalar:
        """How badly u is translated to v with these weights (Eq. 2), in nats per image."""
        guess = torch.func.functional_call(self, weights, (u,))
        return nll(guess.to(v.dtype), v)

    def learn(
        self,
        weights: Weights,
        u: Observations,
        v: Observations,
        nll: Loss,
        *,
        steps: int,
        rate: float,
        unrolled: bool = False,
    ) -> Weights:
        """The weights after some steps of gradient descent (the loop of Algorithm 1).

        Descent is on the mean over pixels: on the sum of Eq. 2 it would leap. `unrolled` keeps the way back through
        the steps to u and v; without, the weights are constants.
        """
        pixels = u[0].numel()
        if not unrolled:
            u, v = u.detach(), v.detach()
        with torch.enable_grad():
            weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
            for _ in range(steps):
                loss = self.loss(weights, u, v, nll) / pixels
                gradients = torch.autograd.grad(loss, list(weights.values()), create_graph=unrolled)
                moved = torch._foreach_add(  # type: ignore[attr-defined]  # one kernel for all
                    list(weights.values()), list(gradients), alpha=-rate
                )
                if not unrolled:
                    moved = [weight.detach().requires_grad_() for weight in moved]
                weights = dict(zip(weights, moved, strict=True))
        return weights if unrolled else {name: weight.detach() for name, weight in weights.items()}
