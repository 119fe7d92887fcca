"""What a method can do beyond loss and encoding, as protocols to check with `isinstance`."""

from typing import Protocol, runtime_checkable

from torch import Tensor

from unbraid.methods.base import Method
from unbraid.objectives import Likelihood
from unbraid.types import Codes, Gaussian, Logits, Observations


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


def feature_strand_names(method: Method) -> tuple[str, ...]:
    """The strands of the method's features; none for a method without features of several dimensions."""
    return method.feature_strands if isinstance(method, HasFeatureStrands) else ()
