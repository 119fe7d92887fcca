"""Whether metrics apply to a method and a dataset, known before the method is trained."""

from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
from jaxtyping import Float
from torch import Tensor

from unbraid.data import Dataset
from unbraid.evaluation.arguments import check_metric, gather_arguments
from unbraid.evaluation.arrays import NotAvailable
from unbraid.evaluation.metric_names import Metric, find_metric, split_strand
from unbraid.evaluation.protocols import PROTOCOLS
from unbraid.evaluation.sample import Sample
from unbraid.methods import HasPostTraining, Method
from unbraid.settings import lookup

OBSERVATIONS = 8


def check_metrics(
    method: Method,
    dataset: Dataset,
    metrics: Iterable[str | Metric],
    *,
    protocol: str = "disentanglement_lib",
    test_dataset: Dataset | None = None,
    num_test_samples: int | None = None,
) -> None:
    """Raises unless evaluation can supply every argument of the metrics, such as labels or a background.

    The method may be untrained. No network runs and no metric is computed: the arguments are gathered for a few
    observations, with zeros in place of codes.

    Args:
        method: Method that will be evaluated.
        dataset: Dataset that it will be evaluated on.
        metrics: Metrics, as for `evaluate`.
        protocol: Protocol of the evaluation.
        test_dataset: Dataset of the test sample. Default: `dataset`.
        num_test_samples: Number of test observations; only 0 or more than 0 matters. Default: from the protocol.
    """
    missing = unavailable_metrics(
        method,
        dataset,
        metrics,
        protocol=protocol,
        test_dataset=test_dataset,
        num_test_samples=num_test_samples,
    )
    for reason in missing.values():
        raise ValueError(reason)


def unavailable_metrics(
    method: Method,
    dataset: Dataset,
    metrics: Iterable[str | Metric],
    *,
    protocol: str,
    test_dataset: Dataset | None,
    num_test_samples: int | None,
) -> dict[int, str]:
    """The metrics with an argument that evaluation cannot supply: the reason by the position of the metric."""
    variants = lookup("protocol", protocol, PROTOCOLS)
    test_size = variants.num_test_samples if num_test_samples is None else num_test_samples
    named = [(metric, *find_metric(metric)) for metric in metrics]
    for _, name, function in named:
        check_metric(name, function)
    if not named:
        return {}
    sample = EmptySample(method, dataset, size=OBSERVATIONS, seed=0)
    held_out = dataset if test_dataset is None else test_dataset
    test = EmptySample(method, held_out, size=OBSERVATIONS, seed=1) if test_size else None
    reasons: dict[int, str] = {}
    for position, (metric, name, function) in enumerate(named):
        strand, _ = split_strand(metric) if isinstance(metric, str) else ("", "")
        train, tested = (one and one.select_strand(strand) if strand else one for one in (sample, test))
        assert train is not None
        try:
            gather_arguments(name, function, train, tested, seed=0, protocol=variants)
        except NotAvailable as reason:
            sentence = str(reason).replace("This metric", f"The metric {name}", 1)
            reasons[position] = sentence if name in sentence else f"The metric {name}: {sentence}"
    return reasons


class EmptySample(Sample):
    """A sample whose codes are zeros, so that no network runs. What is not available raises as in every sample."""

    def map_batches(
        self, function: Callable[[Tensor, Tensor | None], Tensor], rows: Tensor | None = None
    ) -> np.ndarray:
        return np.zeros((self.size if rows is None else len(rows), 2 * self.method.strands.size), np.float32)

    @cached_property
    def all_set_codes(self) -> Float[np.ndarray, "n m d"]:
        self._check_sets()
        return np.zeros((self.size, 2, self.method.strands.size), np.float32)

    @property
    def inner_strands(self) -> dict[str, tuple[int, ...]]:
        return {} if isinstance(self.method, HasPostTraining) else super().inner_strands

    @property
    def _dimensions(self) -> list[int]:
        """The dimensions of the strand; none for a strand that training may define."""
        is_new = self.strand not in list(self.method.strands)
        return [] if is_new and isinstance(self.method, HasPostTraining) else super()._dimensions
