"""The identity of a score: two scores with one identity come from the same model, data, metric and settings."""

import hashlib
import inspect
from collections.abc import Sequence
from typing import Any

from safetensors.torch import save as tensor_bytes

from unbraid import custom_code
from unbraid.data import Dataset
from unbraid.evaluation.arguments import fixed_arguments, without_partial
from unbraid.evaluation.evaluate import sample_sizes
from unbraid.evaluation.metric_names import Metric, find_metric
from unbraid.methods import Method
from unbraid.settings import identity


def score_identities(
    method: Method,
    dataset: Dataset,
    metrics: Sequence[str | Metric],
    *,
    protocol: str = "disentanglement_lib",
    num_samples: int | None = None,
    num_test_samples: int | None = None,
    test_dataset: Dataset | None = None,
    seed: int = 0,
) -> list[str]:
    """The identity of each metric's scores for these arguments of `evaluate`; the device does not count."""
    size, test_size = sample_sizes(protocol, num_samples, num_test_samples)
    settings = {
        "method": [method.name(), _source(type(method)), _weights_hash(method)],
        "data": [None if one is None else _content(one) for one in (dataset, test_dataset)],
        "protocol": protocol,
        "sizes": [size, test_size],
        "seed": seed,
    }
    return [identity({**settings, "metric": _metric(metric)}) for metric in metrics]


def _content(dataset: Dataset) -> dict[str, Any]:
    """What scores depend on: the observations, their factors, and the roles of the factors."""
    names = (*dataset.nuisances, "", *dataset.hidden_nuisances)
    return {**dataset.description(), "label": dataset.label, "nuisances": names}


def _metric(metric: str | Metric) -> list[Any]:
    """The name of a metric, the hash of its source, and the arguments that `functools.partial` has set."""
    name, function = find_metric(metric)
    written = metric if isinstance(metric, str) else name
    return [written, _source(without_partial(function)), repr(sorted(fixed_arguments(function).items()))]


def _source(code: Any) -> str | None:
    """A hash of the source of your own code; None for code of Unbraid."""
    defined = code if inspect.isfunction(code) or inspect.isclass(code) else type(code)
    return None if defined.__module__.startswith("unbraid.") else custom_code.digest(defined)


def _weights_hash(method: Method) -> str:
    """A hash of the names and values of all weights."""
    weights = {name: value.detach().cpu().contiguous() for name, value in method.state_dict().items()}
    return hashlib.sha256(tensor_bytes(weights)).hexdigest()
