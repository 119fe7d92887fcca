"""What a method can do beyond loss and encoding, as protocols to check with `isinstance`.

A method has an ability if it defines the protocol's members; it need not derive from the protocol. A method whose
steps cannot be captured as a CUDA graph says so as draws do: see `unbraid.data.ChecksCUDAGraph`.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Protocol, runtime_checkable

from torch import Tensor

from unbraid.data import Dataset, Draw
from unbraid.methods.base import Method
from unbraid.objectives import Likelihood
from unbraid.types import Codes, Gaussian, Logits, Observations, Others


@runtime_checkable
class HasPosterior(Protocol):
    """A method with a Gaussian posterior q(z|x)."""

    def posterior(self, x: Observations) -> Gaussian:
        """The posterior of each observation."""
        ...


@runtime_checkable
class HasLikelihood(Protocol):
    """A method whose decoder returns the parameters of a likelihood p(x|z)."""

    likelihood: Likelihood

    def decode_parameters(self, codes: Codes, condition: Tensor | None = None) -> Observations:
        """The parameters of p(x|z)."""
        ...


@runtime_checkable
class Predicts(Protocol):
    """A method that predicts the class of an observation."""

    def predict(self, x: Observations, condition: Tensor | None = None) -> Logits:
        """A logit per class."""
        ...


@runtime_checkable
class ClassifiesCodes(Predicts, Protocol):
    """A method whose prediction depends on the code alone."""

    def classify(self, codes: Codes) -> Logits:
        """A logit per class."""
        ...


@runtime_checkable
class HasFeatureStrands(Protocol):
    """A method whose code consists of features of several dimensions."""

    @property
    def feature_strands(self) -> tuple[str, ...]:
        """The strands of the features; none where features have one dimension each."""
        ...


@runtime_checkable
class HasBackgroundCodes(Protocol):
    """A method whose background observations are decoded from a strand."""

    def background_codes(self, codes: Codes) -> Codes:
        """The codes from which background observations are decoded."""
        ...


@runtime_checkable
class ChecksTraining(Protocol):
    """A method with requirements on the data, the draw or the batch size, checked before training starts."""

    def check_training(self, dataset: Dataset, draw: Draw, batch_size: int) -> None:
        """Raises unless the method can be trained on the dataset with batches of this draw and size.

        Args:
            dataset: The training split.
            draw: How batches are sampled.
            batch_size: Observations or pairs per batch, over all processes.
        """
        ...


@runtime_checkable
class NeedsSameClass(Protocol):
    """A method, or its class, that is trained on pairs, and may need both observations to be of the same class."""

    same_class: ClassVar[bool]


@runtime_checkable
class SwapsPairs(HasPosterior, Protocol):
    """A method that swaps dimensions between the codes of a pair, by what it infers from their posteriors."""

    def swap_mask(self, q_l: Gaussian, q_m: Gaussian, k: Tensor) -> Tensor:
        """True for the dimensions that each pair swaps, given the number k of factors in which it differs."""
        ...


@runtime_checkable
class ClosedForm(Protocol):
    """A method that is fitted in closed form, without training steps."""

    def fit(self, target: Observations, background: Others | None) -> None:
        """Computes the weights; called once, in place of training steps.

        Args:
            target: All observations of the dataset.
            background: All observations of its background; None for a dataset without one.
        """
        ...


@runtime_checkable
class HasPostTraining(Protocol):
    """A method with a post-training hook."""

    on_train_end_uses_draw: bool  # whether batches are sampled as in training; otherwise they are `Batch`
    on_train_end_samples: int  # number of observations, or of pairs

    def on_train_end(self, batches: Iterable[Any]) -> None:
        """Called once after the last step with batches of the training data, without gradients."""
        ...


@runtime_checkable
class HasMeasurements(Protocol):
    """A method that is measured every thousand steps of training."""

    def measure(self, x: Observations) -> dict[str, float]:
        """Numbers by name, for the history; without random numbers from the default generator.

        Args:
            x: Observations, the same ones every time.
        """
        ...


@runtime_checkable
class HasFigures(Protocol):
    """A method that chooses the figures of its report; without a choice they follow from its other abilities."""

    def figures(self) -> tuple[Any, ...]:
        """Names of figures, such as `traversals`, and functions `(model, dataset)` that return a figure.

        Figures that need what the model or the dataset lacks are left out. See `unbraid.report.Figure`.
        """
        ...


def needs_same_class(method: Method | type[Method]) -> bool:
    """Whether the method, or its class, needs pairs of observations of the same class."""
    return isinstance(method, NeedsSameClass) and method.same_class


def has_decoder(method: Method | type[Method]) -> bool:
    """Whether the method, or its class, decodes codes."""
    cls = method if isinstance(method, type) else type(method)
    return cls.decode is not Method.decode


def feature_strand_names(method: Method) -> tuple[str, ...]:
    """The strands of the method's features; none for a method without features of several dimensions."""
    return method.feature_strands if isinstance(method, HasFeatureStrands) else ()
