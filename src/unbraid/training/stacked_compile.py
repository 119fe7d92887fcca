"""Losses and gradients of stacked models, compiled as one function; stacks of one kind and size share a compilation.

`torch.compile` does not see through random numbers of a generator per model. A loss is therefore traced once with the
random numbers as arguments, together with its gradients, and the traced operations are compiled.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from unbraid.settings import to_json
from unbraid.training.compile import OPTIONS, FunctionalLoss
from unbraid.training.member_noise import GivenNoise, MemberNoise, Rebuild, Sample, map_models, split_tensors
from unbraid.types import Terms


class Traced(NamedTuple):
    """A compiled loss: its random calls, the compiled function, and which parameters get a gradient."""

    samples: list[Sample]
    function: Callable[..., list[Tensor]]
    spec: Any  # of its terms
    has_gradient: list[bool]


_traced: dict[str, Traced] = {}


class CompiledLoss:
    """The loss of a player of stacked models, which computes its gradients, too.

    Args:
        functional: The loss of one model.
        parameters: The stacked parameters by name; those of `trainable` get a gradient.
        rest: The stacked buffers and options by name.
        trainable: The parameters that are updated at this step.
        noise: The models' generators of their noise.
        varying: Names of the options among `rest`.
    """

    def __init__(
        self,
        functional: FunctionalLoss,
        parameters: Mapping[str, nn.Parameter],
        rest: Mapping[str, Tensor],
        trainable: Callable[[], Sequence[nn.Parameter]],
        noise: Sequence[Generator],
        varying: Sequence[str],
    ) -> None:
        self._functional, self._parameters, self._rest = functional, parameters, rest
        self._trainable, self._noise, self._varying = trainable, list(noise), list(varying)
        self.gradients: tuple[Tensor | None, ...] = ()

    def __call__(self, *batches: Any) -> Terms:
        tensors, rebuild = split_tensors(batches)
        ids = {id(parameter) for parameter in self._trainable()}
        names = [name for name, parameter in self._parameters.items() if id(parameter) in ids]
        key = self._key(names, tensors)
        if key not in _traced:
            _traced[key] = self._trace(names, tensors, rebuild)
        traced = _traced[key]
        numbers = [sample.draw({None: self._noise}, len(self._noise)) for sample in traced.samples]
        with torch.no_grad(), torch.autocast(tensors[0].device.type, enabled=False):
            outputs = traced.function(*self._inputs(names), numbers, tensors)
        rest = iter(outputs[traced.spec.num_leaves :])
        by_name = dict(zip(names, (next(rest) if has else None for has in traced.has_gradient), strict=True))
        name_of = {id(parameter): name for name, parameter in self._parameters.items()}
        self.gradients = tuple(by_name[name_of[id(parameter)]] for parameter in self._trainable())
        return tree_unflatten(outputs[: traced.spec.num_leaves], traced.spec)

    def _inputs(self, names: Sequence[str]) -> tuple[list[Tensor], dict[str, Tensor]]:
        """The parameters that get a gradient, and all else that the loss reads."""
        others = {name: value.detach() for name, value in self._parameters.items() if name not in names}
        return [self._parameters[name].detach() for name in names], others | dict(self._rest)

    def _key(self, names: Sequence[str], tensors: Sequence[Tensor]) -> str:
        """What compiled functions of losses with the same text have in common."""
        method = self._functional.method
        arguments = {k: v for k, v in to_json(method.arguments).items() if k not in self._varying}
        shapes = [[str(tensor.dtype), *tensor.shape] for tensor in tensors]
        autocast = torch.is_autocast_enabled(method.step.device.type)
        kind = [type(method).__module__, type(method).__qualname__, self._functional.name, arguments]
        return json.dumps([*kind, self._varying, names, shapes, str(method.step.device), autocast])

    def _trace(self, names: Sequence[str], tensors: Sequence[Tensor], rebuild: Rebuild) -> Traced:
        trainable, rest = tree_map(torch.clone, self._inputs(names))
        samples = self._samples(
            dict(zip(names, trainable, strict=True)) | tree_map(torch.clone, rest), tensors, rebuild
        )
        other = [Generator(generator.device) for generator in self._noise]
        numbers = [sample.draw({None: other}, len(other)) for sample in samples]
        structure: list[Any] = []

        def function(
            trainable: list[Tensor], rest: dict[str, Tensor], numbers: list[Tensor], tensors: list[Tensor]
        ) -> list[Tensor]:
            leaves = [tensor.detach().requires_grad_() for tensor in trainable]
            state = dict(zip(names, leaves, strict=True)) | rest

            def of_one(state: dict[str, Tensor], numbers: list[Tensor], *tensors: Tensor) -> Terms:
                with GivenNoise(samples, numbers):
                    return self._functional.loss(state, *rebuild(tensors))

            with torch.enable_grad():
                terms = map_models(of_one, state, numbers, *tensors)
                gradients = torch.autograd.grad(terms.total.sum(), leaves, allow_unused=True)
            values, spec = tree_flatten(terms)
            structure[:] = [spec, [gradient is not None for gradient in gradients]]
            return [value.detach() for value in values] + [each for each in gradients if each is not None]

        graph = make_fx(function)(trainable, rest, numbers, list(tensors))
        compiled = torch.compile(graph, dynamic=False, options=OPTIONS)
        return Traced(samples, compiled, *structure)

    def _samples(self, state: dict[str, Tensor], tensors: Sequence[Tensor], rebuild: Rebuild) -> list[Sample]:
        """The random calls of the loss, found by running it with other generators."""
        samples: list[Sample] = []
        noise = [Generator(generator.device) for generator in self._noise]

        def of_one(state: dict[str, Tensor], number: Tensor, *tensors: Tensor) -> Terms:
            with MemberNoise({None: noise}, number, samples):
                return self._functional.loss(state, *rebuild(tensors))

        map_models(of_one, state, torch.arange(len(noise), device=tensors[0].device), *tensors)
        return samples
