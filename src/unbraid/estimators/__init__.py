"""Methods as scikit-learn estimators: `BetaVAE`, …, named as the methods' classes, and `estimator_of` any method."""

from unbraid.estimators.base import Estimator
from unbraid.estimators.estimator_of import estimator_of, named_estimators
from unbraid.estimators.independent_directions import IndependentDirections
from unbraid.estimators.target_background import ContrastEstimator

globals().update(named_estimators())

__all__ = [
    "ContrastEstimator",
    "Estimator",
    "IndependentDirections",
    "estimator_of",
    "named_estimators",
    *named_estimators(),  # pyright: ignore[reportUnsupportedDunderAll]
]
