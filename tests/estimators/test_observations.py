"""Conversion of arrays, src/unbraid/estimators/observations.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unbraid.estimators.observations import Layout, num_axes


@pytest.mark.parametrize(
    ("array_shape", "shape"),
    [((6, 5), (1, 6, 5)), ((6, 5, 3), (3, 6, 5)), ((3, 6, 5), (3, 6, 5)), ((1, 4, 4), (1, 4, 4))],
)
def test_images_there_and_back(array_shape: tuple[int, ...], shape: tuple[int, ...]) -> None:
    images = np.random.default_rng(0).random((2, *array_shape))
    flat = images.reshape(2, -1)
    layout = Layout.of_images(flat, array_shape, is_integer=False)
    x = layout.tensor(flat)
    assert layout.shape == tuple(x.shape[1:]) == shape
    assert_allclose(layout.array(x, flat=False), images)
    assert_allclose(layout.array(x, flat=True), flat)


def test_integers_are_divided_by_255() -> None:
    flat = np.array([[0.0, 255.0, 51.0, 102.0]])
    layout = Layout.of_images(flat, (2, 2), is_integer=True)
    assert_allclose(layout.tensor(flat), [[[[0, 1], [0.2, 0.4]]]])
    assert_allclose(layout.array(layout.tensor(flat), flat=True), flat)
    assert (
        Layout.of_images(np.array([[0.0, 1.0, 1.0, 0.0]]), (2, 2), is_integer=True).max_value == 1
    )  # black and white
    assert layout.tensor(flat * 0 + 1).max() < 0.01  # the fitted range counts


def test_rows_are_standardized_by_choice() -> None:
    rows = np.array([[1.0, 5.0], [3.0, 5.0]])
    layout = Layout.of_rows(rows, standardize=True)
    assert_allclose(layout.tensor(rows), [[-1, 0], [1, 0]])
    assert_allclose(layout.array(layout.tensor(rows), flat=False), rows)
    assert_allclose(Layout.of_rows(rows, standardize=False).tensor(rows), rows)
    assert not layout.images


def test_bad_shapes_and_numbers() -> None:
    flat = np.zeros((1, 12))
    with pytest.raises(ValueError, match="Images must have shape"):
        Layout.of_images(flat, (12,), is_integer=False)
    with pytest.raises(ValueError, match=r"got \(2, 2\) for 12 values"):
        Layout.of_images(flat, (2, 2), is_integer=False)
    with pytest.raises(ValueError, match="Divide by the maximum pixel value"):
        Layout.of_images(flat - 1, (3, 4), is_integer=False)


def test_axes_of_anything() -> None:
    assert num_axes([[1, 2]]) == 2 and num_axes(np.zeros((1, 2, 3))) == 3
