"""Agreement of restarts, src/unbraid/metrics/consistency.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from unbraid.metrics import consistency


def latents(n: int = 3000) -> np.ndarray:
    """Two latents of five components."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 2)) + 4 * rng.standard_normal((5, 2))[np.arange(n) % 5]


def exchanged(codes: np.ndarray, component: int) -> np.ndarray:
    """The codes with their dimensions exchanged in one component."""
    inside = (np.arange(len(codes)) % 5 == component)[:, None]
    return np.where(inside, codes[:, ::-1], codes)


def test_scale_sign_and_order_do_not_matter() -> None:
    z = latents()
    found = consistency([z, -3 * z[:, ::-1] + 1, z * [2, -5]])
    assert_allclose(found.per_model, 1.0)
    assert_allclose(found.pairwise, 1 - np.eye(3), atol=1e-12)


def test_a_model_that_exchanges_dimensions_in_one_component_is_not_chosen() -> None:
    """Two of five models exchange them, each elsewhere; every component alone has a perfect match."""
    z = latents()
    models = [exchanged(z, 1), z, z[:, ::-1], exchanged(z, 3), 2 * z]
    found = consistency(models)
    right, wrong = found.per_model[[1, 2, 4]], found.per_model[[0, 3]]
    assert found.best in (1, 2, 4) and right.min() > wrong.max() + 0.01
    assert_allclose(found.pairwise[1, [2, 4]], 1.0)
    for component in range(5):
        inside = np.arange(len(z)) % 5 == component
        assert_allclose(consistency([model[inside] for model in models]).per_model, 1.0)


def test_a_mistake_that_most_models_share_goes_unnoticed() -> None:
    z = latents()
    assert consistency([z, exchanged(z, 1), exchanged(z, 1), exchanged(z, 1)]).best == 1


def test_missing_dimensions_count_as_no_agreement() -> None:
    z = latents()
    assert_allclose(consistency([z, z[:, :1]]).score, 0.5)


def test_one_model_has_nothing_to_agree_with() -> None:
    with pytest.raises(ValueError, match="at least two arrays; got 1"):
        consistency([latents()])
    with pytest.raises(ValueError, match=r"models\[1\]"):
        consistency([latents(), latents(10)])
