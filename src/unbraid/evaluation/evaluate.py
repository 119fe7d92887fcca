"""Evaluation: encode once, score many."""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from unbraid.data import Dataset
from unbraid.evaluation.arguments import check_metric, gather_arguments, split_samples
from unbraid.evaluation.arrays import Arrays
from unbraid.evaluation.check import unavailable_metrics
from unbraid.evaluation.entries import score_entries, split_finite
from unbraid.evaluation.metric_names import Metric, find_metric, split_strand
from unbraid.evaluation.protocols import PROTOCOLS
from unbraid.evaluation.sample import Sample
from unbraid.methods import Method
from unbraid.progress import progress
from unbraid.runs import Scores
from unbraid.settings import lookup

MAX_SAMPLES = 100_000_000  # their indices alone take 0.8 GB
MAX_SEED = 2**63 - 1


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
    processes: int | None = None,
    quiet: bool = True,
    on_scores: Callable[[list[dict[str, Any]]], None] | None = None,
) -> Scores:
    """Computes metrics of a method on a dataset, which is encoded once for all metrics.

    Each score is one entry with its metric, protocol, value, direction (`higher_is_better`), sample sizes, seed and
    seconds. Further numbers of a metric are entries `metric.field`, and its arrays are the `evidence` of the first
    entry.

    Args:
        method: Trained method.
        dataset: Dataset from which the samples are drawn.
        metrics: Metrics: names (`mig`, or `strand:mig` for one strand), or your functions, whose parameters are named
            like the arrays: codes, factors, labels, test_codes, test_factors, rng, sample, …
        protocol: Protocol, which sets sample sizes and variants of metrics: disentanglement_lib, infogan_cr or fast.
        num_samples: Number of observations to compute scores on or to train predictors on (0: all). Default: from
            the protocol.
        num_test_samples: Number of observations to test predictors on. Default: from the protocol.
        test_dataset: Dataset of the test sample. Default: `dataset`; stored observations are then split into two
            thirds for training predictors and one third for testing them.
        seed: Random seed for sampling and stochastic metrics.
        skip_missing: Whether to skip metrics that do not apply to the method or the dataset.
        processes: Number of processes for scores that several cores compute faster, at most one per core. The scores do
            not depend on it. Default: one per core.
        quiet: Whether to hide progress.
        on_scores: Called with the entries of each metric as soon as they are known.
    """
    size, test_size = sample_sizes(protocol, num_samples, num_test_samples)
    require_seed(seed)
    chosen = list(metrics)
    reasons = unavailable_metrics(
        method, dataset, chosen, protocol=protocol, test_dataset=test_dataset, num_test_samples=test_size
    )
    metrics = _available(chosen, reasons, skip_missing=skip_missing, quiet=quiet)
    was_training = method.training
    method.eval()
    try:
        sample = Sample(method, dataset.to(method.step.device), size=size, seed=seed, processes=processes)
        held_out = sample.dataset if test_dataset is None else test_dataset.to(method.step.device)
        test = (
            Sample(method, held_out, size=test_size, seed=seed + 1, processes=processes)
            if test_size
            else None
        )
        return Scores(
            score(
                sample,
                test,
                metrics,
                protocol=protocol,
                seed=seed,
                skip_missing=skip_missing,
                quiet=quiet,
                on_scores=on_scores,
            )
        )
    finally:
        method.train(was_training)


def sample_sizes(protocol: str, num_samples: int | None, num_test_samples: int | None) -> tuple[int, int]:
    """The sizes of the sample (0: all observations) and of the test sample; those not given are the protocol's."""
    sizes = lookup("protocol", protocol, PROTOCOLS)
    size = sizes.num_samples if num_samples is None else num_samples
    test_size = sizes.num_test_samples if num_test_samples is None else num_test_samples
    for name, value in (("num_samples", size), ("num_test_samples", test_size)):
        if not 0 <= value <= MAX_SAMPLES:
            every = " (0: all)" if name == "num_samples" else ""
            raise ValueError(f"{name} must be from 0{every} to {MAX_SAMPLES:,}; got {value}.")
    return size, test_size


def require_seed(seed: int) -> None:
    """Raises unless every random generator takes the seed."""
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed must be from 0 to {MAX_SEED}; got {seed}.")


def _available(
    metrics: Sequence[str | Metric], reasons: Mapping[int, str], *, skip_missing: bool, quiet: bool
) -> list[str | Metric]:
    """The metrics without those that do not apply; raises for one unless such metrics are skipped."""
    for reason in reasons.values():
        if not skip_missing:
            raise ValueError(reason)
        if not quiet:
            print(f"Skipped: {reason}", file=sys.stderr)
    return [metric for position, metric in enumerate(metrics) if position not in reasons]


def score(
    sample: Sample | Arrays,
    test: Sample | Arrays | None,
    metrics: Iterable[str | Metric],
    *,
    protocol: str = "disentanglement_lib",
    seed: int = 0,
    skip_missing: bool = False,
    quiet: bool = True,
    on_scores: Callable[[list[dict[str, Any]]], None] | None = None,
) -> list[dict[str, Any]]:
    """Computes metrics of one sample; predictors are tested on the other sample, `test`."""
    require_seed(seed)
    chosen = [(metric, *find_metric(metric)) for metric in metrics]
    for _, name, function in chosen:
        check_metric(name, function)
    variants = lookup("protocol", protocol, PROTOCOLS)
    scores: list[dict[str, Any]] = []
    refused: list[str] = []
    with progress("scoring", len(chosen), quiet=quiet, unit="metrics") as bar:
        for index, (metric, name, function) in enumerate(chosen, start=1):
            strand, _ = split_strand(metric) if isinstance(metric, str) else ("", "")
            train = sample.select_strand(strand) if strand else sample
            held_out = test.select_strand(strand) if strand and test is not None else test
            start = time.perf_counter()
            try:
                used = split_samples(function, train, held_out)
                arguments = gather_arguments(name, function, *used, seed=seed, protocol=variants)
                result = function(**arguments)
            except ValueError as reason:
                if not skip_missing:
                    raise
                if not quiet:
                    print(f"{name} skipped: {reason}", file=sys.stderr)
                continue
            common = {"seed": seed, "seconds": round(time.perf_counter() - start, 3)}
            entries = [
                entry | common
                for entry in score_entries(name, function, result, arguments, used, strand=strand)
            ]
            bar.show(index, {name: entries[0]["value"]})
            entries, reasons = split_finite(entries)
            refused += reasons
            scores += entries
            if entries and on_scores is not None:
                on_scores(entries)
    if refused:
        raise ValueError(
            f"Scores must be finite, and {', '.join(refused)}; the other scores are complete. Check the loss and the "
            "data of the run, or leave out these metrics."
        )
    return scores
