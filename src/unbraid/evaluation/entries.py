"""The entries of the scores: what is recorded about the result of a metric."""

import inspect
import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from torch import Tensor

from unbraid.evaluation.arguments import Metric, fixed_arguments
from unbraid.evaluation.arrays import Arrays
from unbraid.evaluation.sample import Sample
from unbraid.metrics import Direction


def score_entries(
    name: str,
    metric: Metric,
    result: Any,
    arguments: Mapping[str, Any],
    samples: tuple[Sample | Arrays, Sample | Arrays | None],
    *,
    strand: str = "",
) -> list[dict[str, Any]]:
    """One entry for the score and one for each further number of the result that is not one of the settings.

    The protocol is the field `protocol` if the result has one, otherwise its settings: bins=20, binning=equal_width.
    The sample sizes `n` and `n_test` count an observation once, however often it was drawn.

    Args:
        name: Name of the metric, without the strand.
        metric: The metric.
        result: What it returned: a number, or a named tuple whose first field is `score`.
        arguments: The arguments that it was called with.
        samples: The sample and, if there is one, the test sample that the arguments are of.
        strand: Strand on which the metric was computed; empty for the default strand.
    """
    full_name = f"{strand}:{name}" if strand else name
    fields = {} if _is_number(result) else _fields(name, result)
    sizes = {
        "n": _sample_size(fields, arguments, samples[0]),
        "n_test": _sample_size(fields, arguments, samples[1], "test_"),
    }
    if _is_number(result):
        protocol = _listed(fixed_arguments(metric))
        return [_entry(full_name, protocol, result, Direction().of_number()) | sizes]
    direction = Direction.of(type(result))
    settings = inspect.signature(metric).parameters
    protocol = str(
        fields.pop("protocol", _listed({key: value for key, value in fields.items() if key in settings}))
    )
    first = _entry(full_name, protocol, fields.pop("score"), direction.of_number(strand=strand)) | sizes
    arrays = {key: _as_json(value) for key, value in fields.items() if isinstance(value, np.ndarray)}
    numbers: dict[str, float] = {}
    for key, value in fields.items():
        if isinstance(value, float | np.floating) and key not in settings:
            numbers[key] = float(value)
        elif isinstance(value, Mapping):
            numbers |= {f"{key}.{entry}": float(part) for entry, part in value.items() if _is_number(part)}
    further = [
        _entry(f"{full_name}.{key}", protocol, value, direction.of_number(key, strand=strand)) | sizes
        for key, value in numbers.items()
    ]
    return [first | ({"evidence": arrays} if arrays else {}), *further]


def split_finite(entries: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The entries with finite values, and a reason for each other; none are kept without the first, the score."""
    infinite = {entry["metric"]: entry["value"] for entry in entries if not math.isfinite(entry["value"])}
    kept = [] if entries[0]["metric"] in infinite else [e for e in entries if e["metric"] not in infinite]
    return kept, [f"{metric} is {value}" for metric, value in infinite.items()]


def _entry(metric: str, protocol: str, value: Any, higher_is_better: bool | None) -> dict[str, Any]:
    return {
        "metric": metric,
        "protocol": protocol,
        "value": float(value),
        "higher_is_better": higher_is_better,
    }


def _as_json(array: np.ndarray) -> Any:
    """The entries of an array as lists; null for NaN and infinite numbers, which JSON lacks."""
    if array.dtype.kind == "f" and not (finite := np.isfinite(array)).all():
        array = array.astype(object)
        array[~finite] = None
    return array.tolist()


def _fields(name: str, result: Any) -> dict[str, Any]:
    """The fields of a result; raises unless it is a named tuple whose first field is a number `score`."""
    names = getattr(type(result), "_fields", ()) if isinstance(result, tuple) else ()
    fields = dict(zip(names, result, strict=True)) if names else {}
    if next(iter(names), "") != "score" or not _is_number(fields["score"]):
        raise ValueError(
            f"A metric must return a number, or a named tuple whose first field is a number named score; {name} "
            f"returned {result!r:.60}."
        )
    return fields


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) or (isinstance(value, np.ndarray | Tensor) and value.ndim == 0)


def _listed(settings: Mapping[str, Any]) -> str:
    """The settings that are numbers or texts: `bins=20, binning=equal_width`."""
    return ", ".join(f"{key}={value}" for key, value in settings.items() if isinstance(value, str | Real))


def _sample_size(
    fields: Mapping[str, Any], arguments: Mapping[str, Any], sample: Sample | Arrays | None, prefix: str = ""
) -> int:
    """The size in a result, otherwise of the first array, with each observation counted once; or the votes cast."""
    name = "n_test" if prefix else "n"
    votes = [fields[key] for key in (f"{name}_votes", f"{name}_differences") if key in fields]
    if votes and name not in fields:
        return votes[0]
    drawn = fields.get(name, _array_size(arguments, prefix))
    if "n_background" in fields and not prefix:
        drawn, sample = fields["n_background"], sample.background if isinstance(sample, Sample) else sample
    return min(drawn, sample.distinct()) if isinstance(sample, Sample) else drawn


def _array_size(arguments: Mapping[str, Any], prefix: str) -> int:
    """The number of observations in the first array of the sample, or of the test sample with its prefix `test_`."""
    for name, value in arguments.items():
        if name.startswith("test_") == bool(prefix):
            if isinstance(value, Sample):
                return value.size
            if isinstance(value, np.ndarray) and value.ndim:
                return len(value)
    return 0
