"""Arguments of metrics by name, src/unbraid/evaluation/arguments.py."""

import inspect
from typing import Any

import numpy as np
import pytest

from unbraid.evaluation.arguments import SUPPLIED, metric_arguments, required
from unbraid.evaluation.arrays import Arrays, NotAvailable
from unbraid.evaluation.evaluate import available_metrics
from unbraid.evaluation.protocols import PROTOCOLS
from unbraid.evaluation.sample import Sample

TRAIN, TEST = Arrays(np.zeros((3, 2)), np.zeros((3, 1))), Arrays(np.ones((2, 2)))
DEFAULT = PROTOCOLS["disentanglement_lib"]


def arguments(
    metric: Any, test: Arrays | None = TEST, name: str = "mine", protocol: str = "fast"
) -> dict[str, Any]:
    return metric_arguments(name, metric, TRAIN, test, seed=0, protocol=PROTOCOLS[protocol])


def test_arrays_go_to_parameters_of_their_name() -> None:
    def metric(codes: Any, test_codes: Any, factors: Any, rng: Any, bins: int = 20) -> None: ...

    found = arguments(metric)
    assert set(found) == {"codes", "test_codes", "factors", "rng"}
    assert found["codes"] is TRAIN.codes and found["test_codes"] is TEST.codes
    assert found["rng"].random() == np.random.default_rng(0).random()


def test_optional_arrays_may_be_missing() -> None:
    def metric(codes: Any, labels: Any = None, test_codes: Any = None) -> None: ...

    assert set(arguments(metric, test=None)) == {"codes"}


def test_required_arrays_may_not_be_missing() -> None:
    def needs_labels(codes: Any, labels: Any) -> None: ...
    def needs_test(codes: Any, test_codes: Any) -> None: ...
    def needs_model(sample: Any) -> None: ...
    def needs_test_factors(codes: Any, test_factors: Any = None) -> None: ...

    for metric, sentence in (
        (needs_labels, "needs labels, and the files contain none"),
        (needs_test, "mine needs a test sample, and there is none"),
        (needs_model, "mine needs a model, and only arrays were passed"),
    ):
        with pytest.raises(NotAvailable, match=sentence):
            arguments(metric, test=None)
    with pytest.raises(NotAvailable, match="needs factors"):  # the test sample exists, so it must be complete
        arguments(needs_test_factors)


def test_protocols_choose_variants() -> None:
    def dci(codes: Any, protocol: str = "default", factor_types: Any = None) -> None: ...

    assert arguments(dci, name="dci")["protocol"] == "histogram"
    assert "protocol" not in arguments(dci, name="dci", protocol="disentanglement_lib")
    for sizes, variant in (((3, 6, 40, 32, 32), "infogan_cr"), ((3, 6), "infogan_cr_cv_sampled")):
        sample = Arrays(TRAIN.codes)
        sample.factor_types, sample.factor_sizes = ("discrete",), sizes  # type: ignore[attr-defined]
        found = metric_arguments("dci", dci, sample, None, seed=0, protocol=PROTOCOLS["infogan_cr"])
        assert found["protocol"] == variant and found["factor_types"] == ("discrete",)


def test_every_supplied_array_is_an_attribute_of_a_sample() -> None:
    names = {name.removeprefix("test_") for name in SUPPLIED} - {"sample", "rng"}
    assert not [name for name in names if not hasattr(Sample, name)]


def test_every_supplied_array_is_used_by_a_metric() -> None:
    used = {name for metric in available_metrics().values() for name in inspect.signature(metric).parameters}
    assert used >= SUPPLIED
    assert all(required(metric) <= SUPPLIED for metric in available_metrics().values())
