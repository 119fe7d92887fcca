"""Estimators of target and background, src/unbraid/estimators/target_background.py."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from unbraid import estimators, methods
from unbraid.estimators import ContrastivePCA, PrincipledContrast, named_estimators
from unbraid.estimators.target_background import ContrastEstimator
from unbraid.types import ContrastBatch

RNG = np.random.default_rng(0)
# The first column varies most in both; the second, in the target alone.
TARGET = RNG.standard_normal((60, 4)) * [10, 3, 1, 1]
BACKGROUND = RNG.standard_normal((50, 4)) * [10, 0.1, 1, 1]
BOTH, MARKS = np.concatenate([TARGET, BACKGROUND]), np.repeat([1, 0], [60, 50])
QUICK: dict[str, Any] = {"steps": 2, "common_dim": 2, "salient_dim": 1, "device": "cpu", "random_state": 0}
CLASSES = [entry for entry in named_estimators().values() if issubclass(entry, ContrastEstimator)]
NO_BACKGROUND = "its y has no 0, so there is no background"


def expected_failures(estimator: Any) -> dict[str, str]:
    return {"check_estimators_dtypes": NO_BACKGROUND, "check_fit2d_1feature": NO_BACKGROUND}


@parametrize_with_checks(
    [ContrastivePCA(salient_dim=1, device="cpu"), PrincipledContrast(**QUICK)],
    expected_failed_checks=expected_failures,
)
def test_the_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_each_one_fits_and_goes_back(cls: type[ContrastEstimator]) -> None:
    assert getattr(methods, cls.__name__) is cls.method and cls.method.batch_type is ContrastBatch
    assert getattr(estimators, cls.__name__) is cls
    settings = {"salient_dim": 1} if cls is ContrastivePCA else QUICK
    model = cls(**settings).fit(TARGET, background=BACKGROUND)
    codes = model.transform(TARGET)
    assert codes.shape[1] == (1 if cls is ContrastivePCA else 3) and np.isfinite(model.score(TARGET))
    assert model.inverse_transform(codes).shape == TARGET.shape
    assert model.get_feature_names_out()[-1] == "salient0"


def test_contrastive_pca_finds_what_varies_in_the_target_only() -> None:
    model = ContrastivePCA(salient_dim=1, standardize=False).fit(TARGET, background=BACKGROUND)
    assert abs(np.corrcoef(model.transform(TARGET)[:, 0], TARGET[:, 1])[0, 1]) > 0.9
    plain = ContrastivePCA(salient_dim=1, alpha=0.0, standardize=False).fit(TARGET, background=BACKGROUND)
    assert_allclose(np.abs(plain.transform(TARGET)), np.abs(PCA(1).fit_transform(TARGET)), atol=1e-3)


def test_both_ways_to_pass_the_background_agree() -> None:
    for cls in (ContrastivePCA, PrincipledContrast):
        settings = {"salient_dim": 1} if cls is ContrastivePCA else QUICK
        apart = cls(**settings).fit(TARGET, background=BACKGROUND)
        joined = cls(**settings).fit(BOTH, MARKS)
        assert_allclose(joined.transform(BOTH), apart.transform(BOTH))
        assert_allclose(joined.score(BOTH, MARKS), apart.score(TARGET))


def test_the_score_by_hand() -> None:
    """Of a projection: minus the squared distance to it."""
    model = ContrastivePCA(salient_dim=2, standardize=False).fit(TARGET, background=BACKGROUND)
    lost = TARGET - model.inverse_transform(model.transform(TARGET))
    assert_allclose(model.score(TARGET), -np.square(lost).sum(1).mean(), rtol=1e-6)


def test_a_strand_alone() -> None:
    whole = PrincipledContrast(**QUICK).fit(BOTH, MARKS)
    salient = PrincipledContrast(**QUICK, strand="salient").fit(BOTH, MARKS)
    assert_allclose(salient.transform(BOTH), whole.transform(BOTH)[:, 2:])
    assert list(salient.get_feature_names_out()) == ["salient0"]
    zeroed = whole.transform(BOTH) * [0, 0, 1]
    assert_allclose(salient.inverse_transform(salient.transform(BOTH)), whole.inverse_transform(zeroed))


def test_in_a_pipeline_and_in_a_search() -> None:
    line = make_pipeline(StandardScaler(), ContrastivePCA(salient_dim=1))
    search = GridSearchCV(line, {"contrastivepca__alpha": [0.0, 1.0]}, cv=2)
    order = np.random.default_rng(0).permutation(len(BOTH))
    search.fit(BOTH[order], MARKS[order])
    assert search.best_params_ == {"contrastivepca__alpha": 0.0}  # PCA reconstructs best
    line.fit(TARGET, contrastivepca__background=BACKGROUND)


def test_images() -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 20, 6, 6, 3), dtype=np.uint8)
    model = PrincipledContrast(**QUICK).fit(images[0], background=images[1])
    assert model.layout_.shape == (3, 6, 6)
    assert model.inverse_transform(model.transform(images[1])).shape == (20, 6, 6, 3)
    with pytest.raises(ValueError, match="observations of shape"):
        model.fit(images[0], background=images[1, :, :5])


def test_without_a_background() -> None:
    with pytest.raises(ValueError, match="ContrastivePCA compares a target with a background"):
        ContrastivePCA().fit(TARGET)
    with pytest.raises(ValueError, match="at least 2 observations each; got 110 and 0"):
        ContrastivePCA().fit(BOTH, np.ones(110))
    with pytest.raises(ValueError, match="features"):
        ContrastivePCA().fit(TARGET, background=BACKGROUND[:, :3])
