"""A method as a scikit-learn estimator: fit, transform, inverse_transform, score."""

import copy
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from unbraid.data import Dataset
from unbraid.distributed import choose_device
from unbraid.estimators.observations import Flat, Layout, num_axes
from unbraid.estimators.parameters import (
    AUTO,
    constructor,
    docstring,
    method_options,
    parameters_of,
    parse_optimizer,
    parse_value,
)
from unbraid.estimators.score import has_score, negative_score
from unbraid.estimators.supervision import needs_labels, required_classes, with_supervision
from unbraid.methods import (
    ClosedForm,
    Method,
    Predicts,
    build_method,
    has_decoder,
)
from unbraid.nn import SIDES
from unbraid.objectives import Likelihood, Normal
from unbraid.options import first_sentence
from unbraid.training import train
from unbraid.types import Codes

BATCH_SIZE = 512  # for inference
PRECISIONS = [np.float64, np.float32]
# With the standard deviation 1 of standardized columns, a weighted KL divergence makes every dimension inactive.
ROW_LIKELIHOOD = Normal(0.1)
E = TypeVar("E", bound="Estimator")


class Estimator(TransformerMixin, BaseEstimator):
    """Base of the estimators. A subclass names its method, from which its parameters follow.

    X contains rows (n, columns), images with three or four axes, or flattened images with `image_shape`. Training uses
    float32; everything else uses the precision of X.
    """

    method: ClassVar[type[Method]]
    method_: Method
    classes_: np.ndarray
    layout_: Layout
    history_: list[dict[str, Any]]
    strand: str | int | None
    image_shape: tuple[int, ...] | None
    standardize: bool
    device: str
    random_state: Any
    verbose: bool

    def __init_subclass__(cls, method: type[Method] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if method is None:
            return
        parameters = parameters_of(method)
        cls.method = method
        cls.__init__ = constructor(parameters)  # type: ignore[method-assign]
        cls.__doc__ = docstring(cls.__doc__ or first_sentence(method), parameters)

    def fit(self: E, X: Any, y: Any = None, *, nuisances: Any = None) -> E:
        """Trains the method on X.

        Args:
            X: Rows or images.
            y: Classes, for methods that learn from labels; the others ignore it.
            nuisances: Known nuisances, (n,) or (n, m), for methods that learn from them.
        """
        x = self._fit_layout(self._flat(X, reset=True), X)
        if needs_labels(self.method):
            self.classes_ = np.unique(required_classes(y))
        dataset = Dataset(x.float(), name=type(self).__name__, max_value=1)
        return self._train(with_supervision(dataset, y, nuisances))

    def transform(self, X: Any) -> np.ndarray:
        """The mean codes of X, or the codes of `strand`."""
        check_is_fitted(self)
        codes = self._codes(X)
        return (codes if self.strand is None else self.method_.strands.take(codes, self.strand)).numpy()

    @available_if(lambda self: has_decoder(self.method))
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Decodes codes, in the units and the shape of the fitted X. With `strand`, all other dimensions are 0."""
        check_is_fitted(self)
        codes = torch.from_numpy(np.array(X, dtype=_precision(X), ndmin=2))
        if self.strand is not None:
            strands = self.method_.strands
            codes = strands.set(codes.new_zeros(len(codes), strands.size), self.strand, codes)
        if codes.shape[1] != self.method_.strands.size:
            raise ValueError(
                f"Codes must have {self.method_.strands.size} columns; got an array of shape {np.shape(X)}."
            )
        method = self._method_on_device(codes.dtype)
        return self.layout_.array(self._in_batches(method.decode, codes), flat=self.image_shape is not None)

    @available_if(lambda self: issubclass(self.method, Predicts))
    def predict(self, X: Any) -> np.ndarray:
        """The predicted class of X, for methods that predict one."""
        check_is_fitted(self)
        x = self.layout_.tensor(self._flat(X, reset=False))
        method = self._method_on_device(x.dtype)
        assert isinstance(method, Predicts)
        return self.classes_[self._in_batches(method.predict, x).argmax(1).numpy()]

    @available_if(lambda self: has_score(self.method))
    def score(self, X: Any, y: Any = None) -> float:
        """The evidence lower bound of X in nats per observation, with one posterior sample per observation and a fixed
        seed. For methods without a posterior, the negative reconstruction loss. With y, for methods that predict a
        class, the accuracy. Higher is better."""
        if y is not None and issubclass(self.method, Predicts):
            return float(np.mean(self.predict(X) == np.asarray(y)))
        return self._score(self._flat(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """One name per dimension: its smallest strand, and its index in this strand."""
        check_is_fitted(self)
        fitted_names = getattr(self, "feature_names_in_", None)
        if (
            input_features is not None
            and fitted_names is not None
            and not np.array_equal(fitted_names, input_features)
        ):
            raise ValueError("input_features is not equal to feature_names_in_")
        strands = self.method_.strands
        names = [""] * strands.size
        for name in sorted(strands, key=lambda name: -len(strands[name])):  # smaller strands last
            for index, dimension in enumerate(strands[name]):
                names[dimension] = f"{name}{index}"
        dims = range(strands.size) if self.strand is None else strands[self.strand]
        return np.array([names[dimension] for dimension in dims], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = needs_labels(self.method)
        return tags

    def _train(self: E, dataset: Dataset) -> E:
        """Trains a new method in a temporary run folder."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with self._seeded(seed), tempfile.TemporaryDirectory() as folder:
            method = build_method(
                self.method, dataset.shape, seed=seed, **dataset.counts, **self._method_arguments()
            )
            run = train(
                method,
                dataset,
                out=folder,
                device=self.device,
                quiet=not self.verbose,
                checkpoint_seconds=float("inf"),
                seed=seed,
                **self._training_arguments(method, dataset),
            )
            self.history_ = run.history()
        self.method_ = method.cpu().eval().requires_grad_(False)
        if self.strand is not None:
            _ = self.method_.strands[self.strand]  # raises if there is no such strand
        return self

    def _method_arguments(self) -> dict[str, Any]:
        """The arguments of `build_method`: the options of the method, and its networks."""
        parameters = self.get_params(deep=False)
        arguments = {
            name: parse_value(option, parameters[name])
            for name, option in method_options(self.method).items()
            if parameters[name] != AUTO
        }
        if parameters.get("likelihood") == AUTO and not self.layout_.images:
            arguments["likelihood"] = ROW_LIKELIHOOD
        if "latent_dim" in parameters:
            arguments["latent_dim"] = int(parameters["latent_dim"])
        if "architecture" in parameters:
            architecture = parameters["architecture"]
            arguments["architecture"] = (
                _architecture(self.layout_.shape) if architecture == AUTO else architecture
            )
        return arguments

    def _training_arguments(self, method: Method, dataset: Dataset) -> dict[str, Any]:
        parameters = self.get_params(deep=False)
        # The observations of all batches of an update should differ.
        available = len(dataset) if dataset.background is None else min(len(dataset), len(dataset.background))
        batches = max((player.batches_per_update for player in method.players()), default=1)
        max_batch_size = max(2, available // batches)
        if isinstance(method, ClosedForm):
            return {"steps": 1, "batch_size": min(2, max_batch_size)}
        return {
            "steps": int(parameters["steps"]),
            "batch_size": min(int(parameters["batch_size"]), max_batch_size),
            "optimizer": parse_optimizer(parameters["optimizer"]),
        }

    def _flat(self, X: Any, *, reset: bool) -> Flat:
        """X as rows, with the checks of scikit-learn."""
        if not reset:
            check_is_fitted(self)
        if num_axes(X) > 2:
            X = np.asarray(X)
            if not reset and X.shape[1:] != self.layout_.array_shape:
                raise ValueError(
                    f"{type(self).__name__} was fitted to observations of shape {self.layout_.array_shape}; got "
                    f"{X.shape[1:]}."
                )
            X = X.reshape(len(X), -1)
        min_samples = 2 if reset else 1
        return validate_data(self, X, dtype=PRECISIONS, reset=reset, ensure_min_samples=min_samples)  # type: ignore[return-value]

    def _fit_layout(self, flat: Flat, X: Any) -> Tensor:
        """Determines the layout of the observations in X and returns the flattened observations as a tensor."""
        if num_axes(X) > 2 or self.image_shape is not None:
            array_shape = tuple(self.image_shape or np.shape(X)[1:])
            self.layout_ = Layout.of_images(flat, array_shape, is_integer=np.asarray(X).dtype.kind in "iub")
        else:
            self.layout_ = Layout.of_rows(flat, standardize=self.standardize)
        x = self.layout_.tensor(flat)
        likelihood = self._method_arguments().get("likelihood")
        if isinstance(likelihood, Likelihood) and likelihood.bounded and not 0 <= x.min() <= x.max() <= 1:
            raise ValueError(
                f"The likelihood {likelihood.short()} requires values in [0, 1]. Choose likelihood='normal:1', or "
                "scale the columns to [0, 1] and pass standardize=False."
            )
        return x

    def _codes(self, X: Any) -> Codes:
        x = self.layout_.tensor(self._flat(X, reset=False))
        return self._in_batches(self._method_on_device(x.dtype).encode, x)

    def _score(self, flat: Flat) -> float:
        x = self.layout_.tensor(flat)
        method = self._method_on_device(x.dtype)
        with self._seeded(0):
            losses = self._in_batches(lambda batch: negative_score(method, batch)[None] * len(batch), x)
        return -float(losses.sum()) / len(x)

    def _method_on_device(self, precision: torch.dtype) -> Method:
        """A copy of the fitted method on the device and in a precision."""
        return copy.deepcopy(self.method_).to(device=choose_device(self.device), dtype=precision)

    @torch.no_grad()
    def _in_batches(self, function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        device = choose_device(self.device)
        return torch.cat([function(batch.to(device)).cpu() for batch in rows.split(BATCH_SIZE)])

    @contextmanager
    def _seeded(self, seed: int) -> Iterator[None]:
        """Seeds torch's generators and restores their state afterwards."""
        device = choose_device(self.device)
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(seed)
            yield


def _architecture(shape: tuple[int, ...]) -> str:
    convolutional = len(shape) == 3 and shape[1] == shape[2] and shape[1] in SIDES
    return "conv" if convolutional else "mlp-small"


def _precision(array: Any) -> type:
    return np.float32 if getattr(array, "dtype", None) == np.float32 else np.float64
