"""Estimators of methods that learn from observations alone, src/unbraid/estimators/unsupervised.py."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from unbraid import estimators, methods
from unbraid.estimators import unsupervised
from unbraid.estimators.base import Estimator
from unbraid.types import Batch

CLASSES = [
    entry for entry in vars(unsupervised).values() if isinstance(entry, type) and entry is not Estimator
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_each_one_fits_and_goes_back(cls: type[Estimator]) -> None:
    assert getattr(methods, cls.__name__) is cls.method and cls.method.batch_type is Batch
    assert getattr(estimators, cls.__name__) is cls
    rows = load_iris().data[:32]
    model = cls(steps=2, device="cpu", random_state=0).fit(rows)
    codes = model.transform(rows)
    assert codes.shape == (32, 10) and np.isfinite(codes).all() and np.isfinite(model.score(rows))
    assert model.inverse_transform(codes).shape == rows.shape
    assert model.get_feature_names_out()[0] == "codes0"
