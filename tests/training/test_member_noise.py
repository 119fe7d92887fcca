"""Random numbers of stacked models, src/unbraid/training/member_noise.py."""

from collections.abc import Callable

import pytest
import torch
from torch import Generator, Tensor

from unbraid.training.member_noise import GivenNoise, MemberNoise, Sample, map_models

MODELS = 3
CALLS: dict[str, Callable[[Tensor], Tensor]] = {
    "rand": lambda x: torch.rand(4, 5),
    "randn": lambda x: torch.randn(4, 5, dtype=torch.float64),
    "randint": lambda x: torch.randint(7, (6,)),
    "randperm": lambda x: torch.randperm(9),
    "rand_like": lambda x: torch.rand_like(x),
    "randn_like": lambda x: torch.randn_like(x),
    "one number": lambda x: torch.rand(()),
}


def generators() -> list[Generator]:
    return [Generator().manual_seed(seed) for seed in range(MODELS)]


def drawn(function: Callable[[Tensor], Tensor], samples: list[Sample] | None = None) -> Tensor:
    """What the function returns for each of the models."""

    def of_one(number: Tensor, x: Tensor) -> Tensor:
        with MemberNoise({None: generators()}, number, samples):
            return function(x)

    return map_models(of_one, torch.arange(MODELS), torch.zeros(MODELS, 4, 3))


@pytest.mark.parametrize("name", CALLS)
def test_each_model_draws_what_it_draws_alone(name: str) -> None:
    for number, found in enumerate(drawn(CALLS[name])):
        torch.manual_seed(number)
        assert torch.equal(found, CALLS[name](torch.zeros(4, 3)))


def test_several_calls_follow_one_another() -> None:
    found = drawn(lambda x: torch.stack([torch.rand(3), torch.randn(3), torch.rand(3)]))
    torch.manual_seed(2)
    assert torch.equal(found[2], torch.stack([torch.rand(3), torch.randn(3), torch.rand(3)]))


def test_a_generator_that_is_named_stands_for_those_of_the_models() -> None:
    key, other = Generator(), Generator().manual_seed(5)

    def of_one(number: Tensor) -> tuple[Tensor, Tensor]:
        with MemberNoise({key: generators()}, number):
            return torch.rand(3, generator=key), torch.rand(3, generator=other) + 0 * number

    own, shared = map_models(of_one, torch.arange(MODELS))
    assert torch.equal(own, torch.stack([torch.rand(3, generator=each) for each in generators()]))
    assert torch.equal(shared, torch.rand(3, generator=other.manual_seed(5)).expand(MODELS, 3))


def test_other_random_functions_are_refused() -> None:
    with pytest.raises(RuntimeError, match="randomness error mode"):
        drawn(lambda x: torch.bernoulli(x))


def test_numbers_that_were_drawn_before_are_the_same_ones() -> None:
    def function(x: Tensor) -> Tensor:
        return x + torch.randn(4, 3) * torch.rand(4, 1)

    samples: list[Sample] = []
    expected, own = drawn(function, samples), generators()
    numbers = [sample.draw({None: own}, MODELS) for sample in samples]

    def of_one(x: Tensor, *numbers: Tensor) -> Tensor:
        with GivenNoise(samples, numbers):
            return function(x)

    assert torch.equal(map_models(of_one, torch.zeros(MODELS, 4, 3), *numbers), expected)
    with pytest.raises(ValueError, match="calls rand in another order"), GivenNoise(samples, numbers):
        torch.rand(4, 1)


def test_a_memory_layout_that_vmap_lacks_is_left_out() -> None:
    x = torch.arange(2 * 3 * 2 * 2.0).view(1, 3, 2, 4)
    found = map_models(lambda number: _laid_out(x, number), torch.arange(MODELS))
    assert torch.equal(found[1], x + 1)


def _laid_out(x: Tensor, number: Tensor) -> Tensor:
    with MemberNoise({None: generators()}, number):
        return (x + number).contiguous(memory_format=torch.channels_last)
