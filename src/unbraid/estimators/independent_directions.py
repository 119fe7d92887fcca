"""Directions of a trained embedding in which class means split into independent subembeddings, as a transformer."""

from typing import Any, TypeVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from unbraid.objectives import find_independent_directions
from unbraid.strands import Strands

T = TypeVar("T", bound="IndependentDirections")
PRECISIONS = [np.float64, np.float32]


class IndependentDirections(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Linear map of any embedding to subembeddings between which the class means are as independent as possible.

    A class is an arbitrary name for a combination of factors, such as a digit on a background. Where the factors
    contribute additively to an embedding, the subembeddings separate the factors, which need not be known. See
    `unbraid.objectives.find_independent_directions`.

    After `fit`, `components_` (dimensions of the result, dimensions of X) and `mean_` are the map, `dependence_` is the
    dependence that remains between the subembeddings, and `strands_` are their dimensions: z0, z1, ….

    Args:
        num_subembeddings: Number of subembeddings, at least 2.
        num_directions: Number of directions per subembedding. All together there are at most as many as dimensions of
            X, and fewer than classes.
        restarts: Number of restarts of the search for a rotation.
        steps: Number of gradient steps per restart.
        random_state: Random seed of the restarts, or a NumPy RandomState.
    """

    components_: np.ndarray
    mean_: np.ndarray
    dependence_: float
    strands_: Strands

    def __init__(
        self,
        *,
        num_subembeddings: int = 2,
        num_directions: int = 10,
        restarts: int = 32,
        steps: int = 300,
        random_state: Any = 0,
    ) -> None:
        self.num_subembeddings, self.num_directions = num_subembeddings, num_directions
        self.restarts, self.steps, self.random_state = restarts, steps, random_state

    def fit(self: T, X: Any, y: Any) -> T:
        """Finds the directions.

        Args:
            X: Embeddings (n, dimensions), about a hundred per class.
            y: Class of each embedding: names or numbers in any order.
        """
        X, y = validate_data(self, X, y, dtype=PRECISIONS)
        if self.num_subembeddings < 2 or self.num_directions < 1:
            raise ValueError(
                "num_subembeddings must be at least 2 and num_directions at least 1; "
                f"got {self.num_subembeddings} and {self.num_directions}."
            )
        _, classes = np.unique(y, return_inverse=True)
        seed = self.random_state
        if not isinstance(seed, int):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        directions = find_independent_directions(
            torch.from_numpy(np.array(X, np.float64)),
            torch.from_numpy(classes),
            num_subembeddings=self.num_subembeddings,
            directions=self.num_directions,
            seed=seed,
            restarts=self.restarts,
            steps=self.steps,
        )
        self.mean_, self.components_ = directions.center.numpy(), directions.matrix.numpy().T
        self.dependence_ = directions.dependence
        size, width = len(self.components_), self.num_directions
        strands = {f"z{k}": range(k * width, (k + 1) * width) for k in range(self.num_subembeddings)}
        self.strands_ = Strands(strands, size=size)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The subembeddings of each embedding, one after the other, in the precision of X."""
        check_is_fitted(self, "components_")
        X = validate_data(self, X, dtype=PRECISIONS, reset=False)
        return ((X - self.mean_) @ self.components_.T).astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
