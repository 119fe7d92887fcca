"""The estimator of any method whose batches X, y and a background can supply."""

import functools
from typing import Any

from unbraid.estimators.base import Estimator
from unbraid.estimators.target_background import ContrastEstimator
from unbraid.methods import Method, method_classes
from unbraid.types import Batch, ContrastBatch

BASES: dict[type, type[Estimator]] = {Batch: Estimator, ContrastBatch: ContrastEstimator}


@functools.cache
def estimator_of(method: type[Method]) -> type[Estimator]:
    """The scikit-learn estimator of a method of Unbraid or of your own.

    >>> from unbraid.methods import BetaVAE
    >>> estimator_of(BetaVAE)(beta=2.0)
    BetaVAE(beta=2.0)

    Args:
        method: A method that is trained on `Batch` or on `ContrastBatch`.
    """
    if method.batch_type not in BASES:
        raise ValueError(
            f"An estimator supplies {' or '.join(batch.__name__ for batch in BASES)}, and {method.__name__} is trained "
            f"on {method.batch_type.__name__}. Use unbraid.train."
        )
    members = {"__module__": "unbraid.estimators", "__reduce_ex__": _reduce}
    return type(method.__name__, (BASES[method.batch_type],), members, method=method)  # type: ignore[call-overload]


def named_estimators() -> dict[str, type[Estimator]]:
    """The estimators of all methods that can have one, by the name of the method's class."""
    methods = [method for method in method_classes().values() if method.batch_type in BASES]
    return {method.__name__: estimator_of(method) for method in methods}


def _reduce(self: Estimator, protocol: int) -> tuple[Any, ...]:
    """Pickles by the method, because only the method can be imported."""
    return _unfitted, (self.method,), self.__getstate__()


def _unfitted(method: type[Method]) -> Estimator:
    return estimator_of(method)()
