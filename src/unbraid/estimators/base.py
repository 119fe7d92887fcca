"""A method as scikit-learn's estimators are: fit, transform, inverse_transform, score."""

import copy
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from unbraid.data.dataset import Dataset
from unbraid.devices import choose_device
from unbraid.estimators.observations import Flat, Layout, dimensions
from unbraid.estimators.parameters import (
    AUTO,
    constructor,
    documented,
    optimiser_of,
    parameters_of,
    settings_of,
    value_of,
)
from unbraid.methods.assemble import assemble
from unbraid.methods.base import Method
from unbraid.naming import summary
from unbraid.nn.conv import SIDES
from unbraid.objectives import Likelihood, Normal, kl_to_standard_normal, squared_error
from unbraid.train import train
from unbraid.types import Codes, Observations

BATCH = 512  # observations that go through the networks at once
PRECISIONS = [np.float64, np.float32]
ROWS = Normal(
    0.1
)  # of rows: with a spread of 1, that of a whole column, a weighted KL leaves no code anything to say
E = TypeVar("E", bound="Estimator")


class Estimator(TransformerMixin, BaseEstimator):
    """What all estimators here share. A class names its method, and its parameters follow from that.

    X are rows (n, columns), images of three or four axes, or images laid out flat with `image_shape`. Computation is in
    the precision of X; training in float32.
    """

    method: ClassVar[type[Method]]
    method_: Method
    layout_: Layout
    history_: list[dict[str, Any]]
    strand: str | int | None
    image_shape: tuple[int, ...] | None
    standardise: bool
    device: str
    random_state: Any
    verbose: bool

    def __init_subclass__(cls, method: type[Method] | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if method is None:
            return
        parameters = parameters_of(method)
        cls.method = method
        cls.__init__ = constructor(parameters)  # type: ignore[method-assign]
        cls.__doc__ = documented(cls.__doc__ or summary(method), parameters)

    def fit(self: E, X: Any, y: Any = None) -> E:
        """Learns from X; y is not looked at."""
        x = self._fit_layout(self._flat(X, reset=True), X)
        return self._train(Dataset(x.float(), name=type(self).__name__, white=1))

    def transform(self, X: Any) -> np.ndarray:
        """The mean codes of X: of the strand, or all of them."""
        check_is_fitted(self)
        codes = self._codes(X)
        return (codes if self.strand is None else self.method_.strands.take(codes, self.strand)).numpy()

    def inverse_transform(self, X: Any) -> np.ndarray:
        """What codes are decoded to, in the units and the shape of what was fitted; of a strand alone, the other
        codes are 0."""
        check_is_fitted(self)
        codes = torch.from_numpy(np.array(X, dtype=_precision(X), ndmin=2))
        if self.strand is not None:
            strands = self.method_.strands
            codes = strands.set(codes.new_zeros(len(codes), strands.size), self.strand, codes)
        if codes.shape[1] != self.method_.strands.size:
            raise ValueError(
                f"The codes need {self.method_.strands.size} columns; got an array of shape {np.shape(X)}."
            )
        method = self._working(codes.dtype)
        return self.layout_.array(self._in_batches(method.decode, codes), flat=self.image_shape is not None)

    def score(self, X: Any, y: Any = None) -> float:
        """How likely X is, in nats per observation: the evidence lower bound where the method has a posterior, with one
        draw of a fixed seed for each; else minus the loss of decoding what was encoded."""
        return self._score(self._flat(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """A name for each code: that of its smallest strand, and its number there."""
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None and known is not None and not np.array_equal(known, input_features):
            raise ValueError("input_features is not equal to feature_names_in_")
        strands = self.method_.strands
        names = [""] * strands.size
        for name in sorted(strands, key=lambda name: -len(strands[name])):  # smaller ones have the last word
            for place, dimension in enumerate(strands[name]):
                names[dimension] = f"{name}{place}"
        chosen = range(strands.size) if self.strand is None else strands[self.strand]
        return np.array([names[dimension] for dimension in chosen], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _train(self: E, dataset: Dataset) -> E:
        """Trains a fresh method; the run folder is not kept."""
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with self._seeded(seed), tempfile.TemporaryDirectory() as folder:
            method = assemble(self.method, dataset.shape, n=len(dataset), seed=seed, **self._networks())
            run = train(
                method,
                dataset,
                out=folder,
                device=self.device,
                quiet=not self.verbose,
                checkpoint_seconds=float("inf"),
                seed=seed,
                **self._training(dataset),
            )
            self.history_ = run.history()
        self.method_ = method.cpu().eval().requires_grad_(False)
        if self.strand is not None:
            _ = self.method_.strands[self.strand]  # raises where there is none of that name
        return self

    def _networks(self) -> dict[str, Any]:
        """The arguments of `assemble`: the method's own settings, and its networks."""
        parameters = self.get_params(deep=False)
        options = settings_of(self.method)
        settings = {
            name: value_of(option, parameters[name])
            for name, option in options.items()
            if parameters[name] != AUTO
        }
        if parameters.get("likelihood") == AUTO and not self.layout_.images:
            settings["likelihood"] = ROWS
        if "codes" in parameters:
            settings["codes"] = int(parameters["codes"])
        if "architecture" in parameters:
            chosen = parameters["architecture"]
            settings["architecture"] = _architecture(self.layout_.shape) if chosen == AUTO else chosen
        return settings

    def _training(self, dataset: Dataset) -> dict[str, Any]:
        parameters = self.get_params(deep=False)
        # A batch, or as many as a method needs at once, is of different observations.
        fewest = len(dataset) if dataset.background is None else min(len(dataset), len(dataset.background))
        most = max(2, fewest // max(1, self.method.fewest_batches))
        if self.method.closed_form:
            return {"steps": 1, "batch": min(2, most)}
        return {
            "steps": int(parameters["steps"]),
            "batch": min(int(parameters["batch"]), most),
            "optimiser": optimiser_of(parameters["optimiser"]),
        }

    def _flat(self, X: Any, *, reset: bool) -> Flat:
        """X as rows, checked as scikit-learn checks them."""
        if not reset:
            check_is_fitted(self)
        if dimensions(X) > 2:
            X = np.asarray(X)
            layout = getattr(self, "layout_", None)
            if not reset and layout is not None and X.shape[1:] != layout.given:
                raise ValueError(
                    f"{type(self).__name__} was fitted to observations of shape {layout.given}; got {X.shape[1:]}."
                )
            X = X.reshape(len(X), -1)
        least = 2 if reset else 1
        return validate_data(self, X, dtype=PRECISIONS, reset=reset, ensure_min_samples=least)  # type: ignore[return-value]

    def _fit_layout(self, flat: Flat, like: Any) -> Tensor:
        """Finds how the numbers of observations lie, those of an array like the given one, and gives them."""
        if dimensions(like) > 2 or self.image_shape is not None:
            given = tuple(self.image_shape or np.shape(like)[1:])
            self.layout_ = Layout.of_images(flat, given, whole=np.asarray(like).dtype.kind in "iub")
        else:
            self.layout_ = Layout.of_rows(flat, standardise=self.standardise)
        x = self.layout_.tensor(flat)
        likelihood = self._networks().get("likelihood")
        if isinstance(likelihood, Likelihood) and likelihood.bounded and not 0 <= x.min() <= x.max() <= 1:
            raise ValueError(
                f"The likelihood {likelihood.short()} needs numbers from 0 to 1: choose likelihood='normal:1', or "
                "bring the columns there and pass standardise=False."
            )
        return x

    def _codes(self, X: Any) -> Codes:
        x = self.layout_.tensor(self._flat(X, reset=False))
        return self._in_batches(self._working(x.dtype).encode, x)

    def _score(self, flat: Flat) -> float:
        x = self.layout_.tensor(flat)
        method = self._working(x.dtype)
        with self._seeded(0):
            losses = self._in_batches(lambda part: _loss(method, part)[None] * len(part), x)
        return -float(losses.sum()) / len(x)

    def _working(self, precision: torch.dtype) -> Method:
        """The method on its device and in a precision; what was fitted stays as it is."""
        return copy.deepcopy(self.method_).to(device=choose_device(self.device), dtype=precision)

    @torch.no_grad()
    def _in_batches(self, function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        place = choose_device(self.device)
        return torch.cat([function(part.to(place)).cpu() for part in rows.split(BATCH)])

    @contextmanager
    def _seeded(self, seed: int) -> Iterator[None]:
        """With torch's generators at a seed, and as they were afterwards."""
        place = choose_device(self.device)
        with torch.random.fork_rng(devices=[place] if place.type == "cuda" else []):
            torch.manual_seed(seed)
            yield


def _loss(method: Method, x: Observations) -> Tensor:
    """Minus the evidence lower bound; without a posterior, what is lost by encoding and decoding."""
    likelihood: Any = getattr(method, "likelihood", None)
    if likelihood is None:
        return squared_error(method.decode(method.encode(x)), x)
    if not hasattr(method, "posterior"):
        return likelihood.nll(method.decoded(method.encode(x)), x)  # type: ignore[operator]
    q = method.posterior(x)  # type: ignore[operator]
    return likelihood.nll(method.decoded(q.sample()), x) + kl_to_standard_normal(q)  # type: ignore[operator]


def _architecture(shape: tuple[int, ...]) -> str:
    fits = len(shape) == 3 and shape[1] == shape[2] and shape[1] in SIDES
    return "conv" if fits else "mlp-small"


def _precision(array: Any) -> type:
    return np.float32 if getattr(array, "dtype", None) == np.float32 else np.float64
