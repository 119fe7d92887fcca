"""The base of the estimators of methods that contrast a target with a background."""

from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.metaestimators import available_if

from unbraid.data import Dataset
from unbraid.estimators.base import Estimator
from unbraid.estimators.score import has_score

C = TypeVar("C", bound="ContrastEstimator")


class ContrastEstimator(Estimator):
    """Base of the estimators with a target and a background.

    `fit(X, background=B)` takes the background separately, as in the papers. `fit(X, y)` takes both in X, with y = 0
    for background rows, so that pipelines transform both, and cross-validation splits both.
    """

    def fit(self: C, X: Any, y: Any = None, *, background: Any = None) -> C:
        """Trains the method on a target and a background.

        Args:
            X: The target; with y, target and background.
            y: 0 for background rows, any other value for target rows; ignored with `background`.
            background: Background observations, in the same format as X.
        """
        flat = self._flat(X, reset=True)
        is_target = None if background is not None else self._is_target(flat, y)
        x = self._fit_layout(flat if is_target is None else flat[is_target], X)
        background_rows = self._flat(background, reset=False) if is_target is None else flat[~is_target]
        if min(len(x), len(background_rows)) < 2:
            raise ValueError(
                "Target and background must have at least 2 observations each; "
                f"got {len(x)} and {len(background_rows)}."
            )
        target = Dataset(x.float(), name=type(self).__name__, max_value=1)
        background_dataset = Dataset(
            self.layout_.tensor(background_rows).float(), name="background", max_value=1
        )
        return self._train(target.with_background(background_dataset))

    @available_if(lambda self: has_score(self.method))
    def score(self, X: Any, y: Any = None) -> float:
        """As in `Estimator.score`; with y, only target rows count."""
        flat = self._flat(X, reset=False)
        return self._score(flat if y is None else flat[self._is_target(flat, y)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _is_target(self, X: Any, y: Any) -> np.ndarray:
        """Whether each row belongs to the target."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} compares a target with a background, so it requires y to be passed, but the "
                "target y is None. Pass y with 0 for background rows, or background=…."
            )
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        return np.asarray(labels != 0, dtype=bool)
