"""Evaluation: encode once, score many."""

import inspect
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from unbraid.data.dataset import Dataset
from unbraid.methods.base import Method
from unbraid.model_metrics import MODEL_METRICS
from unbraid.naming import choose
from unbraid.progress import progress
from unbraid.samples import Arrays, Missing, Sample
from unbraid.scores import Scores

Metric = Callable[..., Any]


class Protocol(NamedTuple):
    """A published way to score: sample sizes, and what each metric's own protocol is called."""

    samples: int
    test_samples: int  # 0: predictors are tested on what they were trained on, where a metric allows it
    metrics: Mapping[str, str]


PROTOCOLS = {
    "disentanglement_lib": Protocol(10_000, 5_000, {}),
    "infogan_cr": Protocol(
        73_728,
        0,
        dict.fromkeys(("sap", "dci", "factor_vae_score", "beta_vae_score"), "infogan_cr"),
    ),
    # The first, with the quick forms of the three scores that take minutes.
    "fast": Protocol(
        10_000, 5_000, {"dci": "histogram", "factor_vae_score": "grid", "beta_vae_score": "grid"}
    ),
}
DSPRITES = (3, 6, 40, 32, 32)  # InfoGAN-CR gives a forest's depth for each of these factors
SUPPLIED = {
    *("sample", "codes", "factors", "labels", "nuisances", "predictions", "represent", "space", "rng"),
    *("test_codes", "test_factors", "test_labels", "conditions", "instances", "names", "parts"),
    *("background_codes", "drawn_codes", "background_drawn_codes", "class_names"),
    *("generate", "whole_codes", "features", "variance", "device"),
    *("latents", "set_codes"),
}


def evaluate(
    method: Method,
    dataset: Dataset,
    metrics: Iterable[str | Metric] = ("reconstruction", "kl"),
    *,
    protocol: str = "disentanglement_lib",
    samples: int | None = None,
    test_samples: int | None = None,
    test_dataset: Dataset | None = None,
    seed: int = 0,
    skip_missing: bool = False,
    quiet: bool = True,
) -> Scores:
    """Scores a method on a dataset, encoding it once for all metrics.

    Each score is one entry with its metric, protocol, value, sample sizes, seed and seconds; a metric's further
    numbers are entries `metric.field`, its arrays the `evidence` of the first.

    Args:
        method: A trained method.
        dataset: What to draw the samples from.
        metrics: Names (`mig`; `strand:mig` for one strand), or functions of one's own whose arguments are named
            like the arrays: codes, factors, labels, test_codes, test_factors, rng, sample, …
        protocol: disentanglement_lib, infogan_cr or fast: sample sizes and the metrics' own protocols.
        samples: Observations to compute scores on, or to train their predictors on; 0 for all there are; the
            protocol's by default.
        test_samples: Observations to test such predictors on; the protocol's by default.
        test_dataset: What to draw the test sample from; the same dataset by default, of which predictors then learn
            from two thirds and are tested on the others if it is a list of observations, not a space of factors.
        seed: Of the samples, and of metrics that draw.
        skip_missing: Leaves out metrics that do not apply, such as those that need what the method or the dataset does
            not have.
        quiet: Shows no progress.
    """
    rules = choose("protocol", protocol, PROTOCOLS)
    was_training = method.training
    method.eval()
    size = rules.samples if samples is None else samples
    test_size = rules.test_samples if test_samples is None else test_samples
    if test_size < 0:
        raise ValueError(f"The test sample may not have fewer than 0 observations; got {test_size}.")
    sample = Sample(method, dataset.to(method.step.device), size=size, seed=seed)
    tested = sample.dataset if test_dataset is None else test_dataset.to(method.step.device)
    test = Sample(method, tested, size=test_size, seed=seed + 1) if test_size else None
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
    """The entries of each metric on one sample; predictors are tested on `test`."""
    chosen = [(metric, *find_metric(metric)) for metric in metrics]
    scores: list[dict[str, Any]] = []
    with progress("scoring", len(chosen), quiet=quiet, unit="metrics") as bar:
        for place, (asked, name, function) in enumerate(chosen, start=1):
            strand, colon, _ = asked.rpartition(":") if isinstance(asked, str) else ("", "", "")
            here = sample.of_strand(strand) if strand else sample
            there = test.of_strand(strand) if strand and test is not None else test
            began = time.perf_counter()
            try:
                rules = choose("protocol", protocol, PROTOCOLS)
                result = function(**_arguments(name, function, here, there, seed, rules))
            except ValueError as reason:
                if not skip_missing:
                    raise
                if not quiet:
                    print(f"{name} left out: {reason}", file=sys.stderr)
                continue
            common = {
                "seed": seed,
                "n": _first(result, "n", "n_votes", "n_differences"),
                "n_test": _first(result, "n_test", "n_test_votes", "n_test_differences"),
                "seconds": round(time.perf_counter() - began, 3),
            }
            settings = inspect.signature(function).parameters
            entries = _entries(strand + colon + name, result, common, settings=settings)
            scores += entries
            bar.show(place, {name: entries[0]["value"]})
    return scores


def find_metric(metric: str | Metric) -> tuple[str, Metric]:
    """The name and the function of a metric."""
    if callable(metric):
        return getattr(metric, "__name__", type(metric).__name__), metric
    name = metric.rpartition(":")[2]
    return name, choose("metric", name, available_metrics())


def available_metrics() -> dict[str, Metric]:
    """Every metric that one trained method can be scored by, by name."""
    from unbraid import metrics

    functions = {name: getattr(metrics, name) for name in metrics.__all__}
    return {metric.__name__: metric for metric in MODEL_METRICS} | {
        name: function
        for name, function in functions.items()
        if inspect.isfunction(function) and _scores(function) and _required(function) <= SUPPLIED
    }


def _scores(function: Metric) -> bool:
    """Whether a function returns a result with a score."""
    result = inspect.signature(function, eval_str=True).return_annotation
    return "score" in getattr(result, "_fields", ())


def _required(function: Metric) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is parameter.empty}


def _tested(function: Metric) -> bool:
    """Whether a metric tests what it has trained."""
    return any(name.startswith("test_") for name in SUPPLIED & inspect.signature(function).parameters.keys())


def _arguments(
    name: str,
    function: Metric,
    sample: Sample | Arrays,
    test: Sample | Arrays | None,
    seed: int,
    rules: Protocol,
) -> dict[str, Any]:
    """What a metric asks for, by the names of its parameters."""
    parameters, required = inspect.signature(function).parameters, _required(function)
    arguments: dict[str, Any] = {}
    if isinstance(sample, Sample) and isinstance(test, Sample) and _tested(function):
        sample, test = sample.parted(test)
    for wanted in parameters:
        if wanted == "sample":
            if isinstance(sample, Arrays):
                raise Missing(f"{name} needs the method itself, not arrays alone: choose other metrics.")
            arguments[wanted] = sample
        elif wanted == "rng":
            arguments[wanted] = np.random.default_rng(seed)
        elif wanted.startswith("test_") and wanted in SUPPLIED:
            if test is not None:
                arguments[wanted] = getattr(test, wanted.removeprefix("test_"))
            elif wanted in required:
                raise Missing(f"{name} needs a test sample, and there is none: give test_samples.")
        elif wanted in SUPPLIED:
            try:
                arguments[wanted] = getattr(sample, wanted)
            except Missing:
                if wanted in required:
                    raise
    if name in rules.metrics:
        arguments["protocol"] = rules.metrics[name]
        if arguments["protocol"] == "infogan_cr":
            if "kinds" in parameters:
                arguments["kinds"] = sample.kinds
            if name == "dci" and sample.sizes != DSPRITES:
                # There are no published depths: they are chosen.
                arguments["protocol"] = "infogan_cr_cv_sampled"
    if "strands" in parameters and isinstance(sample, Sample) and sample.blocks is not None:
        arguments["strands"] = sample.blocks
    return arguments


def _first(result: Any, *names: str) -> int:
    """The first of these sizes that a result carries; 0 when it says nothing of its samples."""
    return next((getattr(result, name) for name in names if hasattr(result, name)), 0)


def _entries(
    name: str, result: Any, common: Mapping[str, Any], *, settings: Iterable[str]
) -> list[dict[str, Any]]:
    """One entry for the score and one for each further number of a result that is not one of its settings.

    The protocol is the one that the result names, else the settings that it carries: bins=20, binning=equal_width.
    """
    if isinstance(result, int | float):
        return [{"metric": name, "protocol": "", "value": float(result), **common}]
    fields = result._asdict()
    said = {
        key: value
        for key, value in fields.items()
        if key in settings and isinstance(value, str | int | float)
    }
    protocol = str(fields.pop("protocol", ", ".join(f"{key}={value}" for key, value in said.items())))
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
