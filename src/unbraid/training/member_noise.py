"""Random numbers of stacked models: each model's own, from its own generator, inside one vectorized function."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_unflatten

# Random functions by the function that draws the same numbers for a shape. `vmap` refuses any other random function.
SAMPLERS: dict[Callable[..., Any], Callable[..., Tensor]] = {
    torch.rand: torch.rand,
    torch.randn: torch.randn,
    torch.randint: torch.randint,
    torch.randperm: torch.randperm,
    torch.rand_like: torch.rand,
    torch.randn_like: torch.randn,
}
Rebuild = Callable[[Sequence[Tensor]], Any]
SHAPED_LIKE = (torch.rand_like, torch.randn_like)


class Sample(NamedTuple):
    """One call of a random function: what it draws, and the generator that it names."""

    sampler: Callable[..., Tensor]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    generator: Generator | None

    def draw(self, generators: Mapping[Generator | None, Sequence[Generator]], models: int) -> Tensor:
        """The numbers of every model, stacked; a generator that is nobody's gives all models the same numbers."""
        own = generators.get(self.generator)
        if own is None:
            return self._from(self.generator).expand(models, *[-1] * len(self._shape()))
        return torch.stack([self._from(generator) for generator in own])

    def _from(self, generator: Generator | None) -> Tensor:
        return self.sampler(*self.args, **self.kwargs, generator=generator)

    def _shape(self) -> torch.Size:
        return self.sampler(*self.args, **self.kwargs | {"device": "meta"}).shape


def map_models(function: Callable[..., Any], *stacked: Any) -> Any:
    """What a function of one model returns for every model of a stack, by `torch.func.vmap`."""
    with warnings.catch_warnings():
        # Of operations that it computes for one model after the other.
        warnings.filterwarnings("ignore", message="There is a performance drop")
        return torch.func.vmap(function)(*stacked)


def split_tensors(tree: Any) -> tuple[list[Tensor], Rebuild]:
    """The tensors in a tree of tuples and dicts, and a function that puts others in their places."""
    leaves, spec = tree_flatten(tree)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]

    def rebuild(others: Sequence[Tensor]) -> Any:
        rest = iter(others)
        return tree_unflatten([next(rest) if isinstance(leaf, Tensor) else leaf for leaf in leaves], spec)

    return tensors, rebuild


class MemberNoise(TorchFunctionMode):
    """Within this context, which is inside `map_models`, random functions draw for each model by itself.

    Args:
        generators: The models' generators by the generator that a call names; None for torch's default generator.
        model: Number of the model in the stack: an argument of the mapped function.
        samples: Receives the calls, in order.
    """

    def __init__(
        self,
        generators: Mapping[Generator | None, Sequence[Generator]],
        model: Tensor,
        samples: list[Sample] | None = None,
    ) -> None:
        super().__init__()
        self._generators, self._model = generators, model
        self._samples = [] if samples is None else samples

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func not in SAMPLERS:
            return func(*args, **without_layout(kwargs))
        sample = sample_of(func, args, kwargs)
        self._samples.append(sample)
        return _Draw.apply(self._model, lambda models: sample.draw(self._generators, models))


class GivenNoise(TorchFunctionMode):
    """Within this context, random functions return numbers that were drawn before.

    Args:
        samples: The calls that are expected, in order.
        numbers: What they return.
    """

    def __init__(self, samples: Sequence[Sample], numbers: Sequence[Tensor]) -> None:
        super().__init__()
        self._rest = iter(list(zip(samples, numbers, strict=True)))

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func not in SAMPLERS:
            return func(*args, **without_layout(kwargs))
        expected, numbers = next(self._rest, (None, None))
        if expected != sample_of(func, args, kwargs):
            raise ValueError(f"the loss calls {func.__name__} in another order than at its first step")
        return numbers


def sample_of(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sample:
    """The call of a random function, with a shape in place of a tensor of this shape."""
    kwargs = dict(kwargs)
    generator = kwargs.pop("generator", None)
    if func in SHAPED_LIKE:
        like, *args = args  # type: ignore[assignment]
        kwargs = {"dtype": like.dtype, "device": like.device} | kwargs
        return Sample(SAMPLERS[func], (tuple(like.shape), *args), kwargs, generator)
    return Sample(SAMPLERS[func], args, kwargs, generator)


def without_layout(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments without `channels_last`, which `vmap` lacks and which changes no number."""
    return {key: value for key, value in kwargs.items() if value is not torch.channels_last}


class _Draw(torch.autograd.Function):
    """What a function draws for all models of a stack."""

    @staticmethod
    def forward(model: Tensor, draw: Callable[[int], Tensor]) -> Tensor:
        raise RuntimeError("random numbers of stacked models are drawn inside vmap only")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None]:
        return None, None

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], model: Tensor, draw: Callable[[int], Tensor]
    ) -> tuple[Tensor, int]:
        return draw(info.batch_size), 0
