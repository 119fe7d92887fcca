"""Evaluation: encode once, score many."""

import inspect
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from unbraid.data import Dataset
from unbraid.evaluation.arguments import SUPPLIED, Metric, metric_arguments, required
from unbraid.evaluation.arrays import Arrays
from unbraid.evaluation.model_scores import MODEL_METRICS
from unbraid.evaluation.protocols import PROTOCOLS
from unbraid.evaluation.sample import Sample
from unbraid.methods import Method
from unbraid.progress import progress
from unbraid.runs import Scores
from unbraid.settings import lookup


def evaluate(
    method: Method,
    dataset: Dataset,
    metrics: Iterable[str | Metric] = ("reconstruction", "kl"),
    *,
    protocol: str = "disentanglement_lib",
    num_samples: int | None = None,
    num_test_samples: int | None = None,
    test_dataset: Dataset | None = None,
    seed: int = 0,
    skip_missing: bool = False,
    quiet: bool = True,
) -> Scores:
    """Computes metrics of a method on a dataset, which is encoded once for all metrics.

    Each score is one entry with its metric, protocol, value, sample sizes, seed and seconds. Further numbers of a
    metric are entries `metric.field`, and its arrays are the `evidence` of the first entry.

    Args:
        method: Trained method.
        dataset: Dataset from which the samples are drawn.
        metrics: Metrics: names (`mig`, or `strand:mig` for one strand), or functions whose parameters are named like
            the arrays: codes, factors, labels, test_codes, test_factors, rng, sample, …
        protocol: Protocol, which sets sample sizes and variants of metrics: disentanglement_lib, infogan_cr or fast.
        num_samples: Number of observations to compute scores on or to train predictors on (0: all). Default: from
            the protocol.
        num_test_samples: Number of observations to test predictors on. Default: from the protocol.
        test_dataset: Dataset of the test sample. Default: `dataset`; stored observations are then split into two
            thirds for training predictors and one third for testing them.
        seed: Random seed for sampling and stochastic metrics.
        skip_missing: Whether to skip metrics that do not apply to the method or the dataset.
        quiet: Whether to hide progress.
    """
    sizes = lookup("protocol", protocol, PROTOCOLS)
    was_training = method.training
    method.eval()
    size = sizes.num_samples if num_samples is None else num_samples
    test_size = sizes.num_test_samples if num_test_samples is None else num_test_samples
    if test_size < 0:
        raise ValueError(f"num_test_samples must be at least 0; got {test_size}.")
    sample = Sample(method, dataset.to(method.step.device), size=size, seed=seed)
    held_out = sample.dataset if test_dataset is None else test_dataset.to(method.step.device)
    test = Sample(method, held_out, size=test_size, seed=seed + 1) if test_size else None
    scores = score(
        sample, test, metrics, protocol=protocol, seed=seed, skip_missing=skip_missing, quiet=quiet
    )
    method.train(was_training)
    return Scores(scores)


def score(
    sample: Sample | Arrays,
    test: Sample | Arrays | None,
    metrics: Iterable[str | Metric],
    *,
    protocol: str = "disentanglement_lib",
    seed: int = 0,
    skip_missing: bool = False,
    quiet: bool = True,
) -> list[dict[str, Any]]:
    """Computes metrics of one sample; predictors are tested on the other sample, `test`."""
    chosen = [(metric, *find_metric(metric)) for metric in metrics]
    variants = lookup("protocol", protocol, PROTOCOLS)
    scores: list[dict[str, Any]] = []
    with progress("scoring", len(chosen), quiet=quiet, unit="metrics") as bar:
        for index, (metric, name, function) in enumerate(chosen, start=1):
            strand, colon, _ = metric.rpartition(":") if isinstance(metric, str) else ("", "", "")
            train = sample.select_strand(strand) if strand else sample
            held_out = test.select_strand(strand) if strand and test is not None else test
            start = time.perf_counter()
            try:
                arguments = metric_arguments(name, function, train, held_out, seed=seed, protocol=variants)
                result = function(**arguments)
            except ValueError as reason:
                if not skip_missing:
                    raise
                if not quiet:
                    print(f"{name} skipped: {reason}", file=sys.stderr)
                continue
            common = {
                "seed": seed,
                "n": _first(result, "n", "n_votes", "n_differences"),
                "n_test": _first(result, "n_test", "n_test_votes", "n_test_differences"),
                "seconds": round(time.perf_counter() - start, 3),
            }
            settings = inspect.signature(function).parameters
            entries = _entries(strand + colon + name, result, common, settings=settings)
            scores += entries
            bar.show(index, {name: entries[0]["value"]})
    return scores


def find_metric(metric: str | Metric) -> tuple[str, Metric]:
    """The name and the function of a metric."""
    if callable(metric):
        return getattr(metric, "__name__", type(metric).__name__), metric
    name = metric.rpartition(":")[2]
    return name, lookup("metric", name, available_metrics())


def available_metrics() -> dict[str, Metric]:
    """Every metric of one trained method, by name."""
    from unbraid import metrics

    functions = {name: getattr(metrics, name) for name in metrics.__all__}
    return {metric.__name__: metric for metric in MODEL_METRICS} | {
        name: function
        for name, function in functions.items()
        if inspect.isfunction(function) and _returns_score(function) and required(function) <= SUPPLIED
    }


def _returns_score(function: Metric) -> bool:
    result = inspect.signature(function, eval_str=True).return_annotation
    return "score" in getattr(result, "_fields", ())


def _first(result: Any, *names: str) -> int:
    """The first of these sizes in the result; 0 if it has none of them."""
    return next((getattr(result, name) for name in names if hasattr(result, name)), 0)


def _entries(
    name: str, result: Any, common: Mapping[str, Any], *, settings: Iterable[str]
) -> list[dict[str, Any]]:
    """One entry for the score and one for each further number of the result that is not one of the settings.

    The protocol is the field `protocol` if the result has one, otherwise its settings: bins=20, binning=equal_width.
    """
    if isinstance(result, int | float):
        return [{"metric": name, "protocol": "", "value": float(result), **common}]
    fields = result._asdict()
    used = {
        key: value
        for key, value in fields.items()
        if key in settings and isinstance(value, str | int | float)
    }
    protocol = str(fields.pop("protocol", ", ".join(f"{key}={value}" for key, value in used.items())))
    arrays = {
        key: np.asarray(value).tolist() for key, value in fields.items() if isinstance(value, np.ndarray)
    }
    first = {"metric": name, "protocol": protocol, "value": float(fields.pop("score")), **common}
    numbers: dict[str, float] = {}
    for key, value in fields.items():
        if isinstance(value, float) and key not in settings:
            numbers[key] = value
        elif isinstance(value, dict):
            numbers |= {f"{key}.{entry}": number for entry, number in value.items()}
    further = [
        {"metric": f"{name}.{key}", "protocol": protocol, "value": value, **common}
        for key, value in numbers.items()
    ]
    return [first | ({"evidence": arrays} if arrays else {}), *further]
