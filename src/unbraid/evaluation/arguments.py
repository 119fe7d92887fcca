"""The arguments of a metric, found by the names of its parameters.

A metric may ask for every public property of `Sample` by a parameter of the same name; for the property of the test
sample by `test_` and the name; and for `sample` and `rng`. The table in docs/own_metric.md lists all of them.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from unbraid.evaluation.arrays import Arrays, NotAvailable
from unbraid.evaluation.protocols import Protocol
from unbraid.evaluation.sample import Sample
from unbraid.settings import lookup

Metric = Callable[..., Any]

PROPERTIES = tuple(
    name
    for name, member in inspect.getmembers(Sample)
    if isinstance(member, property | functools.cached_property) and not name.startswith("_")
)
ARGUMENTS = ("sample", "rng", *PROPERTIES)
TEST_ARGUMENTS = tuple(f"test_{name}" for name in PROPERTIES)
SUPPLIED = frozenset(ARGUMENTS + TEST_ARGUMENTS)


def without_partial(metric: Metric) -> Metric:
    """The function of a `functools.partial`, otherwise the metric itself."""
    while isinstance(metric, functools.partial):
        metric = metric.func
    return metric


def metric_name(metric: Metric) -> str:
    """The name of a function, of the function of a `functools.partial`, or of the class of another callable."""
    function = without_partial(metric)
    return getattr(function, "__name__", type(function).__name__)


def fixed_arguments(metric: Metric) -> dict[str, Any]:
    """The arguments that `functools.partial` has set by name."""
    return dict(metric.keywords) if isinstance(metric, functools.partial) else {}


def parameters(metric: Metric) -> dict[str, inspect.Parameter]:
    """The parameters that evaluation may fill, by name."""
    fixed = fixed_arguments(metric)
    variadic = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return {
        name: parameter
        for name, parameter in inspect.signature(metric).parameters.items()
        if parameter.kind not in variadic and name not in fixed
    }


def required(metric: Metric) -> set[str]:
    """The parameters of a metric without a default."""
    return {name for name, parameter in parameters(metric).items() if parameter.default is parameter.empty}


def check_metric(name: str, metric: Metric) -> None:
    """Raises unless evaluation supplies every argument that the metric requires."""
    try:
        accepted = parameters(metric)
    except (TypeError, ValueError):
        raise ValueError(
            f"The parameters of the metric {name} cannot be read. Wrap it in a function with named parameters."
        ) from None
    for parameter in (accepted[other] for other in accepted if other in required(metric)):
        choices = TEST_ARGUMENTS if parameter.name.startswith("test_") else ARGUMENTS
        lookup(
            f"argument for metrics such as {name} named",
            parameter.name,
            dict.fromkeys(choices),
            or_else="; a parameter with a default may have any name",
        )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ValueError(
                f"Arguments are passed by name, and the metric {name} takes {parameter.name} by position only. Remove "
                "the slash from its parameters."
            )


def split_samples(
    metric: Metric, sample: Sample | Arrays, test: Sample | Arrays | None
) -> tuple[Sample | Arrays, Sample | Arrays | None]:
    """The samples for a metric: one that would both train and test its predictors is split."""
    has_test_parameters = not SUPPLIED.isdisjoint(
        parameter for parameter in parameters(metric) if parameter.startswith("test_")
    )
    if isinstance(sample, Sample) and isinstance(test, Sample) and has_test_parameters:
        return sample.train_test_split(test)
    return sample, test


def gather_arguments(
    name: str,
    metric: Metric,
    sample: Sample | Arrays,
    test: Sample | Arrays | None,
    *,
    seed: int,
    protocol: Protocol,
) -> dict[str, Any]:
    """The arguments of a metric: arrays of the samples, a generator, and the variant of the protocol.

    Optional ones are left out if they are not available.
    """
    accepted, arguments = parameters(metric), dict[str, Any]()
    for parameter in (parameter for parameter in accepted if parameter in SUPPLIED):
        must_exist = parameter in required(metric) or (parameter.startswith("test_") and test is not None)
        try:
            arguments[parameter] = _value(name, parameter, sample, test, seed)
        except NotAvailable:
            if must_exist:
                raise
    if (variant := protocol.metrics.get(name)) is not None:
        arguments |= {key: value for key, value in variant(sample).items() if key in accepted}
    return arguments


def _value(
    name: str, parameter: str, sample: Sample | Arrays, test: Sample | Arrays | None, seed: int
) -> Any:
    """The value of one supplied parameter."""
    if parameter == "sample":
        if isinstance(sample, Arrays):
            raise NotAvailable(f"{name} needs a model, and only arrays were passed. Choose other metrics.")
        return sample
    if parameter == "rng":
        return np.random.default_rng(seed)
    if parameter.startswith("test_"):
        if test is None:
            raise NotAvailable(f"{name} needs a test sample, and there is none. Set --num-test-samples.")
        return getattr(test, parameter.removeprefix("test_"))
    return getattr(sample, parameter)
