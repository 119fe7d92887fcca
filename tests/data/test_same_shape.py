"""Shapes of target and background, src/unbraid/data/same_shape.py."""

import pytest
import torch

from unbraid.data.columns import ColumnScaler
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


def table(*names: str) -> Dataset:
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return Dataset(rows, name=names[0], max_value=1, columns=ColumnScaler.identity(names))


def test_tables_that_only_look_alike_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lacks the columns 'a', 'b'\. .* needs a, b; it has x, y"):
        table("a", "b").with_background(table("x", "y"))
    with pytest.raises(ValueError, match=r"the same columns in the same order; a has a, b and b has b, a\."):
        require_same_shape(table("a", "b"), table("b", "a"))


def test_a_background_table_is_ordered_and_standardized_as_its_target() -> None:
    scaler = ColumnScaler(("a", "b"), (2.0, 3.0), (1.0, 2.0))
    target = table("a", "b").rescaled(scaler)
    background = target.with_background(table("b", "a")).background
    assert background is not None and background.columns == scaler
    assert background.source.tolist() == [[0.0, -1.0], [2.0, 0.0]]
    assert background.raw(torch.arange(2)).tolist() == [[2.0, 1.0], [4.0, 3.0]]
