"""Shapes of target and background, src/unbraid/data/same_shape.py."""

import pytest
import torch

from unbraid.data.dataset import Dataset
from unbraid.data.same_shape import require_same_shape


def of_shape(*shape: int, name: str = "target") -> Dataset:
    return Dataset(torch.zeros(2, *shape), name=name, max_value=1)


def test_one_shape_is_accepted() -> None:
    require_same_shape(of_shape(1, 4, 4), of_shape(1, 4, 4))


@pytest.mark.parametrize(
    ("target", "background", "cure"),
    [
        ((1, 4, 4), (3, 4, 4), "resize one of them"),
        ((3,), (4,), "give both the same columns"),
        ((3,), (1, 4, 4), "give images for both, or rows for both"),
    ],
)
def test_other_shapes_are_refused_with_a_cure(
    target: tuple[int, ...], background: tuple[int, ...], cure: str
) -> None:
    with pytest.raises(ValueError, match=cure):
        require_same_shape(of_shape(*target), of_shape(*background, name="background"))
