"""Directions in which classes are independent, src/unbraid/objectives/independent_directions.py."""

import pytest
import torch
from torch import Generator, Tensor
from torch.testing import assert_close

from unbraid.objectives import find_independent_directions

COLORS, SHAPES = 5, 5


def embeddings(seed: int = 0, *, each: int = 60, interaction: float = 0.0) -> tuple[Tensor, Tensor, Tensor]:
    """Codes of 12 dimensions whose mean is the sum of a color's and a shape's own, with noise that is not round, and
    the color and the shape of each."""
    generator = Generator().manual_seed(seed)

    def normal(*size: int) -> Tensor:
        return torch.randn(*size, generator=generator, dtype=torch.float64)

    color, shape = torch.cartesian_prod(torch.arange(COLORS), torch.arange(SHAPES)).repeat(each, 1).unbind(1)
    own = normal(COLORS, 12)[color] + normal(SHAPES, 12)[shape]
    both = interaction * normal(COLORS, SHAPES, 12)[color, shape]
    return own + both + 0.3 * normal(len(color), 12) @ normal(12, 12), color, shape


def explained(part: Tensor, factor: Tensor) -> float:
    """The share of a part's variance that lies between the values of a factor."""
    means = torch.stack([part[factor == value].mean(0) for value in factor.unique()])
    between = (means - part.mean(0))[factor].square().sum()
    return float(between / (part - part.mean(0)).square().sum())


def means_of(codes: Tensor, classes: Tensor) -> Tensor:
    return torch.stack([codes[classes == value].double().mean(0) for value in classes.unique()])


def test_parts_hold_a_factor_each_though_only_combinations_are_named() -> None:
    codes, color, shape = embeddings()
    names = torch.randperm(COLORS * SHAPES, generator=Generator().manual_seed(1))  # in no order
    classes = names[color * SHAPES + shape]
    found = find_independent_directions(codes, classes, num_subembeddings=2, directions=4, restarts=4)
    means = means_of((codes - found.center) @ found.matrix, classes)
    factors = [means_of(factor, classes).long() for factor in (color, shape)]
    table = [[explained(part, factor) for factor in factors] for part in means.chunk(2, 1)]
    first, second = table if table[0][0] > table[0][1] else table[::-1]
    assert first[0] > 0.95 and second[1] > 0.95  # five values span four dimensions
    assert first[1] < 0.05 and second[0] < 0.05
    assert found.dependence < 0.1


def test_the_means_of_classes_are_white_in_the_new_directions() -> None:
    codes, color, shape = embeddings()
    classes = color * SHAPES + shape
    found = find_independent_directions(
        codes, classes, num_subembeddings=2, directions=3, restarts=1, steps=5
    )
    means = means_of((codes - found.center) @ found.matrix, classes)
    assert_close(means.T @ means / len(means), torch.eye(6, dtype=torch.float64), atol=1e-6, rtol=0.0)


def test_the_embedding_may_be_turned_and_stretched() -> None:
    codes, color, shape = embeddings()
    classes = color * SHAPES + shape
    stretched = codes @ torch.randn(12, 12, generator=Generator().manual_seed(3), dtype=torch.float64) + 5
    first, second = (
        find_independent_directions(some, classes, num_subembeddings=2, directions=4, restarts=4)
        for some in (codes, stretched)
    )
    assert_close(first.dependence, second.dependence, atol=0.02, rtol=0.0)


def test_the_same_seed_gives_the_same_directions_and_gradients_are_left_alone() -> None:
    codes, color, shape = embeddings(each=5)
    codes.requires_grad_()
    with torch.no_grad():
        first, second = (
            find_independent_directions(
                codes, color * SHAPES + shape, num_subembeddings=2, directions=2, restarts=2, steps=10
            )
            for _ in range(2)
        )
    assert torch.equal(first.matrix, second.matrix) and not first.matrix.requires_grad


def test_more_directions_than_classes_or_dimensions_are_refused() -> None:
    codes, color, _ = embeddings(each=5)
    with pytest.raises(
        ValueError, match=r"2 subembeddings of 3 directions .* more than 6 classes; got 12 and 5"
    ):
        find_independent_directions(codes, color, num_subembeddings=2, directions=3)
    with pytest.raises(ValueError, match="at least 14 dimensions"):
        find_independent_directions(codes, color, num_subembeddings=2, directions=7)
