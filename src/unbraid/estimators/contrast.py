"""Estimators of the methods that find what a target has and a background lacks."""

from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from unbraid import methods
from unbraid.data.dataset import Dataset
from unbraid.estimators.base import Estimator

C = TypeVar("C", bound="ContrastEstimator")


class ContrastEstimator(Estimator):
    """What estimators of target and background share.

    The background comes in either of two ways. `fit(X, background=B)` reads as the papers do. `fit(X, y)` takes both in
    X, and y is 0 where a row is background: so both go through the steps of a pipeline before, and through the splits
    of a search.
    """

    def fit(self: C, X: Any, y: Any = None, *, background: Any = None) -> C:
        """Learns what X has and its background lacks.

        Args:
            X: The target; with y, target and background.
            y: 0 for rows of the background, anything else for those of the target; not looked at with `background`.
            background: Observations like X that lack what is looked for.
        """
        flat = self._flat(X, reset=True)
        chosen = None if background is not None else self._is_target(flat, y)
        x = self._fit_layout(flat if chosen is None else flat[chosen], X)
        rest = self._flat(background, reset=False) if chosen is None else flat[~chosen]
        if min(len(x), len(rest)) < 2:
            raise ValueError(
                f"Target and background need at least 2 observations each; got {len(x)} and {len(rest)}."
            )
        target = Dataset(x.float(), name=type(self).__name__, white=1)
        return self._train(target.against(Dataset(self.layout_.tensor(rest).float(), name="rest", white=1)))

    def score(self, X: Any, y: Any = None) -> float:
        """As of other estimators, of the target alone where y tells it from the background."""
        flat = self._flat(X, reset=False)
        return self._score(flat if y is None else flat[self._is_target(flat, y)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _is_target(self, X: Any, y: Any) -> np.ndarray:
        """Which rows y says are the target."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} compares a target with a background, so it requires y to be passed, but the "
                "target y is None: let y be 0 where a row is background, or pass background=…."
            )
        marks = column_or_1d(y, warn=True)
        check_consistent_length(X, marks)
        return np.asarray(marks != 0, dtype=bool)


class PrincipledContrast(ContrastEstimator, method=methods.PrincipledContrast):
    """The contrast VAE whose background has salient codes of zero, and common codes like those of the target."""


class ContrastivePCA(ContrastEstimator, method=methods.ContrastivePCA):
    """Directions along which the target varies and the background does not, in closed form."""


class ContrastVAE(ContrastEstimator, method=methods.ContrastVAE):
    """The VAE of target and background with codes common to both and salient ones."""


class CVAE(ContrastEstimator, method=methods.CVAE):
    """The contrast VAE whose strands are made independent by a critic."""


class MMcVAE(ContrastEstimator, method=methods.MMcVAE):
    """The contrast VAE whose common codes are alike in both and whose background has none that are salient, as kernels
    see it."""


class RbVAE(ContrastEstimator, method=methods.RbVAE):
    """The contrast VAE in which all of the background has one salient code, which is learnt."""


class SRbVAE(ContrastEstimator, method=methods.SRbVAE):
    """The Rb-VAE that also minimises the divergences the other way round."""
