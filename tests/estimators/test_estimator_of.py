"""The estimator of any method, src/unbraid/estimators/estimator_of.py."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import Tensor, nn

from unbraid import estimators, methods
from unbraid.estimators import ContrastEstimator, Estimator, estimator_of, named_estimators
from unbraid.methods import Method, method_classes
from unbraid.strands import Strands
from unbraid.types import Batch, Codes, ContrastBatch, Observations, Terms

IRIS = load_iris()
ROWS, LABELS = IRIS.data[::5], IRIS.target[::5]
SITES = np.where(np.arange(len(ROWS)) % 2, "north", "south")
QUICK: dict[str, Any] = {"steps": 2, "device": "cpu", "random_state": 0}
ALONE = [name for name, entry in named_estimators().items() if not issubclass(entry, ContrastEstimator)]


class Averages(Method[Batch]):
    """A method of a user: a linear encoder whose mean code is drawn to the center of its class.

    Args:
        encoder: Network from observations to codes.
        pull: Weight of the squared distance to the center of the class.
    """

    def __init__(self, encoder: nn.Module, *, pull: float = 1.0) -> None:
        super().__init__()
        self.encoder, self.pull = encoder, pull

    @property
    def strands(self) -> Strands:
        return Strands.from_sizes(codes=2)

    def loss(self, batch: Batch) -> Terms:
        codes = self.encode(batch.x)
        if batch.labels is None:
            return Terms(codes.square().mean(), {})
        center = codes[batch.labels == 0].mean(0)
        return Terms(self.pull * (codes - center).square().mean(), {})

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.encoder(x).mean[:, :2]


class Paired(Method[ContrastBatch]):
    """A method of a user that is trained on a target and a background."""

    strands = Strands.from_sizes(codes=3)  # type: ignore[assignment]

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def loss(self, batch: ContrastBatch) -> Terms:
        return Terms((self.encode(batch.target).mean() - self.encode(batch.background).mean()).square(), {})

    def encode(self, x: Observations, condition: Tensor | None = None) -> Codes:
        return self.encoder(x).mean[:, :3]


def test_there_is_one_for_every_method_that_it_can_supply() -> None:
    """The names follow from the methods: no list has to know a new one."""
    expected = {cls.__name__ for cls in method_classes().values() if cls.batch_type in (Batch, ContrastBatch)}
    assert named_estimators().keys() == expected and {"BetaVAE", "CVAE", "GIN", "VFAE"} <= expected
    assert {*expected, "estimator_of"} <= set(estimators.__all__) and expected <= set(dir(estimators))
    for name in expected:
        found = getattr(estimators, name)
        assert found is estimator_of(found.method) and found.method is getattr(methods, name)


@pytest.mark.parametrize("name", ALONE)
def test_each_one_fits(name: str) -> None:
    """With labels and nuisances for those that learn from them; others give the same codes without."""
    cls = getattr(estimators, name)
    model = cls(**QUICK).fit(ROWS, LABELS, nuisances=SITES)
    codes = model.transform(ROWS)
    assert len(codes) == len(ROWS) and np.isfinite(codes).all()
    assert len(model.get_feature_names_out()) == codes.shape[1]
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is cls and np.array_equal(again.transform(ROWS), codes)
    if name in ("VAE", "FactorVAE", "Intervention", "InfoGAN"):
        assert model.inverse_transform(codes).shape == ROWS.shape and np.isfinite(model.score(ROWS))
        assert_array_equal(cls(**QUICK).fit(ROWS).transform(ROWS), codes)


@parametrize_with_checks([estimator_of(Averages)(**QUICK), estimators.CNN(**QUICK)])
def test_the_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_a_method_of_your_own() -> None:
    cls = estimator_of(Averages)
    assert cls is estimator_of(Averages) and issubclass(cls, Estimator)
    assert cls().get_params()["pull"] == 1.0 and "pull: Weight of the squared" in (cls.__doc__ or "")
    model = cls(**QUICK | {"steps": 300, "optimizer": "adam:0.01"}).fit(ROWS, LABELS)
    assert model.transform(ROWS).shape == (30, 2)
    assert (
        np.square(model.transform(ROWS)).mean() < np.square(cls(**QUICK).fit_transform(ROWS, LABELS)).mean()
    )
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is cls and np.array_equal(again.transform(ROWS), model.transform(ROWS))
    assert not hasattr(model, "inverse_transform") and not hasattr(model, "score")  # it has no decoder
    assert repr(pickle.loads(pickle.dumps(cls(pull=2.0)))) == "Averages(pull=2.0)"


def test_a_method_of_your_own_with_a_background() -> None:
    model = estimator_of(Paired)(**QUICK).fit(ROWS, background=ROWS[:10] + 1)
    assert isinstance(model, ContrastEstimator) and model.transform(ROWS).shape == (30, 3)


def test_methods_that_predict_a_class() -> None:
    model = estimators.CNN(**QUICK | {"steps": 200}).fit(ROWS, np.array(["a", "b", "c"])[LABELS])
    predicted = model.predict(ROWS)
    assert set(predicted) <= {"a", "b", "c"} and model.score(ROWS, predicted) == 1.0
    assert model.score(ROWS, np.array(["a", "b", "c"])[LABELS]) > 0.9
    assert not hasattr(estimators.BetaVAE(), "predict")
    assert_allclose(estimators.UAI(**QUICK).fit(ROWS, LABELS).score(ROWS, 3 + LABELS), 0)


@pytest.mark.parametrize("name", ["CNN", "GIN"])
def test_without_labels(name: str) -> None:
    with pytest.raises(ValueError, match="learns from labels, so it requires y to be passed"):
        getattr(estimators, name)(**QUICK).fit(ROWS)
    with pytest.raises(ValueError, match="y must be one column of classes"):
        getattr(estimators, name)(**QUICK).fit(ROWS, ROWS)
    with pytest.raises(ValueError, match=r"at least (two|2) classes"):
        getattr(estimators, name)(**QUICK).fit(ROWS, np.zeros(len(ROWS)))


def test_without_nuisances() -> None:
    with pytest.raises(ValueError, match="requires known nuisances, and the dataset has none"):
        estimators.CAI(**QUICK).fit(ROWS, LABELS)


def test_what_an_estimator_cannot_supply() -> None:
    with pytest.raises(
        ValueError, match="supplies Batch or ContrastBatch, and SimCLR is trained on ViewBatch"
    ):
        estimator_of(methods.SimCLR)
