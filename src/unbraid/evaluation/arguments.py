"""The arguments of a metric, found by the names of its parameters."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from unbraid.evaluation.arrays import Arrays, NotAvailable
from unbraid.evaluation.protocols import DSPRITES, Protocol
from unbraid.evaluation.sample import Sample

Metric = Callable[..., Any]

SUPPLIED = {  # parameter names that evaluation fills; all but `sample` and `rng` are attributes of `Sample`
    *("sample", "rng", "device"),
    *("codes", "test_codes", "all_codes", "sampled_codes", "set_codes"),
    *("background_codes", "background_sampled_codes"),
    *("factors", "test_factors", "labels", "test_labels", "nuisances", "hidden_nuisances"),
    *("instances", "latents", "predictions", "names", "class_names", "factor_space"),
    *("encode_factors", "decode_fn", "inner_strands", "features", "variance"),
}


def required(metric: Metric) -> set[str]:
    """The parameters of a metric without a default."""
    parameters = inspect.signature(metric).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is parameter.empty}


def metric_arguments(
    name: str,
    metric: Metric,
    sample: Sample | Arrays,
    test: Sample | Arrays | None,
    *,
    seed: int,
    protocol: Protocol,
) -> dict[str, Any]:
    """The arguments of a metric: arrays of the samples, a generator, and the variant of the protocol."""
    parameters = inspect.signature(metric).parameters
    arguments: dict[str, Any] = {}
    if isinstance(sample, Sample) and isinstance(test, Sample) and _has_test_parameters(metric):
        sample, test = sample.train_test_split(test)
    for parameter in (parameter for parameter in parameters if parameter in SUPPLIED):
        must_exist = parameter in required(metric) or (parameter.startswith("test_") and test is not None)
        try:
            arguments[parameter] = _value(name, parameter, sample, test, seed)
        except NotAvailable:
            if must_exist:
                raise
    variant = protocol.metrics.get(name)
    if variant == "infogan_cr" and "factor_types" in parameters:
        arguments["factor_types"] = sample.factor_types
    if (name, variant) == ("dci", "infogan_cr") and sample.factor_sizes != DSPRITES:
        variant = "infogan_cr_cv_sampled"  # without published depths, cross-validation chooses them
    if variant is not None:
        arguments["protocol"] = variant
    if "strands" in parameters and isinstance(sample, Sample) and sample.feature_strands is not None:
        arguments["strands"] = sample.feature_strands
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


def _has_test_parameters(metric: Metric) -> bool:
    return any(name.startswith("test_") for name in SUPPLIED & inspect.signature(metric).parameters.keys())
