"""Methods as scikit-learn estimators, src/unbraid/estimators/base.py."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import unbraid
from unbraid.estimators import VAE, BetaTCVAE, BetaVAE

QUICK: dict[str, Any] = {"steps": 2, "latent_dim": 2, "device": "cpu", "random_state": 0}
IRIS = load_iris().data
DIGITS = np.round(load_digits().images[:40] / 16 * 255).astype(np.uint8)


@parametrize_with_checks([BetaVAE(**QUICK), BetaTCVAE(**QUICK)])
def test_the_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_training_raises_the_score() -> None:
    short, long = (VAE(**QUICK | {"steps": steps}).fit(IRIS) for steps in (1, 300))
    assert long.score(IRIS) > short.score(IRIS) + 10
    assert long.score(IRIS) == long.score(IRIS)
    assert_allclose(long.transform(IRIS)[:, :1].std(), 1, atol=0.7)  # an active dimension
    assert len(long.history_) > 0


def test_rows_come_back_in_their_units() -> None:
    model = VAE(**QUICK | {"steps": 300}).fit(IRIS * 1000 + 5)
    back = model.inverse_transform(model.transform(IRIS * 1000 + 5))
    assert back.shape == IRIS.shape and back.dtype == np.float64
    assert np.corrcoef(back[:, 2], IRIS[:, 2])[0, 1] > 0.9
    assert_allclose(back.mean(0), IRIS.mean(0) * 1000 + 5, rtol=0.1)


def test_the_bound_by_hand() -> None:
    """With decoder and codes at zero, -log p(x|z) of a standardized column is ½(x²/σ² + log 2πσ²), and the KL 0."""
    model = VAE(**QUICK, likelihood="normal:0.5").fit(IRIS)
    for parameter in model.method_.parameters():
        parameter.zero_()
    assert_allclose(model.score(IRIS), -0.5 * 4 * (4 + np.log(2 * np.pi / 4)))


def test_the_precision_is_that_of_the_data() -> None:
    model = BetaVAE(**QUICK).fit(IRIS)
    wide, narrow = model.transform(IRIS), model.transform(IRIS.astype(np.float32))
    assert wide.dtype == np.float64 and narrow.dtype == np.float32
    assert_allclose(wide, narrow, atol=1e-5)
    assert next(model.method_.parameters()).dtype == torch.float32  # the fitted method is unchanged


def test_images_in_every_layout() -> None:
    square, flat = BetaVAE(**QUICK), BetaVAE(**QUICK, image_shape=(8, 8))
    codes = square.fit(DIGITS).transform(DIGITS)
    assert (
        square.n_features_in_ == 64 and square.layout_.shape == (1, 8, 8) and square.layout_.max_value == 255
    )
    rows = DIGITS.reshape(len(DIGITS), -1)
    assert_allclose(flat.fit(rows).transform(rows), codes, atol=1e-6)
    assert flat.inverse_transform(codes).shape == rows.shape
    back = square.inverse_transform(codes)
    assert back.shape == DIGITS.shape and back.min() >= 0 and 1 < back.max() <= 255  # in the units of X
    assert_allclose(square.transform(DIGITS[:, None].reshape(40, 64)), codes)  # flattened
    unit = BetaVAE(**QUICK).fit(DIGITS / 255)
    assert_allclose(unit.transform(DIGITS / 255), codes, atol=1e-5)
    with pytest.raises(ValueError, match="was fitted to observations of shape"):
        square.transform(DIGITS[:, :7])
    with pytest.raises(ValueError, match="Divide by the maximum pixel value"):
        square.fit(load_digits().images)


def test_convolutions_for_supported_sizes() -> None:
    large = np.repeat(np.repeat(DIGITS, 4, 1), 4, 2)
    model = BetaVAE(**QUICK | {"steps": 1}).fit(large[:8])
    assert type(model.method_.encoder).__name__ == "ConvEncoder"
    assert type(BetaVAE(**QUICK).fit(DIGITS).method_.encoder).__name__ == "MLPEncoder"


def test_a_pipeline_and_a_search() -> None:
    labels = load_iris().target
    model = make_pipeline(MinMaxScaler(), BetaVAE(**QUICK), LogisticRegression())
    assert 0 <= model.fit(IRIS, labels).score(IRIS, labels) <= 1
    search = GridSearchCV(BetaVAE(**QUICK), {"beta": [1, 4.0], "latent_dim": np.array([1, 2])}, cv=2).fit(
        IRIS
    )
    assert search.best_params_["beta"] in (1, 4.0) and np.isfinite(search.best_score_)


def test_clones_and_pickles() -> None:
    model = BetaVAE(**QUICK, beta=2, likelihood="normal:0.5").fit(IRIS)
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "method_")
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.transform(IRIS), model.transform(IRIS))
    assert model.method_.beta == 2.0 and model.method_.likelihood.sigma == 0.5


def test_seeds() -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    first, again, other = (
        BetaVAE(**QUICK | {"random_state": seed}).fit(IRIS).transform(IRIS) for seed in (0, 0, 1)
    )
    assert torch.rand(1) == expected  # torch's generator is restored
    assert_allclose(first, again)
    assert np.abs(first - other).max() > 1e-3


def test_names_and_frames() -> None:
    pandas = pytest.importorskip("pandas", reason="needs the extra analysis")
    frame = pandas.DataFrame(IRIS, columns=list("abcd"))
    model = BetaVAE(**QUICK).set_output(transform="pandas").fit(frame)
    assert list(model.transform(frame).columns) == ["codes0", "codes1"]
    with pytest.raises(ValueError, match="input_features is not equal"):
        model.get_feature_names_out(["a", "b", "c", "e"])


def test_bad_input() -> None:
    with pytest.raises(TypeError, match="has no parameter betta"):
        BetaVAE(betta=1)
    with pytest.raises(ValueError, match=r"likelihood bernoulli requires values in \[0, 1\]"):
        BetaVAE(**QUICK, likelihood="bernoulli").fit(IRIS)
    with pytest.raises(ValueError, match="must be one of bernoulli"):
        BetaVAE(**QUICK, likelihood="nonsense").fit(IRIS)
    with pytest.raises(ValueError, match="There is no strand 'salient'"):
        BetaVAE(**QUICK, strand="salient").fit(IRIS)
    with pytest.raises(ValueError, match="Codes must have 2 columns"):
        BetaVAE(**QUICK).fit(IRIS).inverse_transform(np.zeros((1, 3)))


def test_the_package_exports_it() -> None:
    assert unbraid.estimators.BetaVAE is BetaVAE
