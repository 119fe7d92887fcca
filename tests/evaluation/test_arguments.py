"""Arguments of metrics by name, src/unbraid/evaluation/arguments.py."""

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unbraid.evaluation.arguments import (
    ARGUMENTS,
    SUPPLIED,
    check_metric,
    fixed_arguments,
    gather_arguments,
    metric_name,
    parameters,
    required,
)
from unbraid.evaluation.arrays import Arrays, NotAvailable
from unbraid.evaluation.metric_names import available_metrics
from unbraid.evaluation.protocols import PROTOCOLS
from unbraid.evaluation.sample import Sample

TRAIN, TEST = Arrays(np.zeros((3, 2)), np.zeros((3, 1))), Arrays(np.ones((2, 2)))
DEFAULT = PROTOCOLS["disentanglement_lib"]


def arguments(
    metric: Any, test: Arrays | None = TEST, name: str = "mine", protocol: str = "fast"
) -> dict[str, Any]:
    return gather_arguments(name, metric, TRAIN, test, seed=0, protocol=PROTOCOLS[protocol])


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
    def dci(codes: Any, protocol: str = "default") -> None: ...
    def sap(codes: Any, protocol: str = "default", factor_types: Any = None) -> None: ...
    def mine(codes: Any) -> None: ...

    assert arguments(dci, name="dci")["protocol"] == "histogram"
    assert "protocol" not in arguments(dci, name="dci", protocol="disentanglement_lib")
    assert set(arguments(mine, name="dci")) == {"codes"}  # another metric of this name has no variants
    for sizes, variant in (((3, 6, 40, 32, 32), "infogan_cr"), ((3, 6), "infogan_cr_cv_sampled")):
        sample = Arrays(TRAIN.codes)
        sample.factor_sizes, sample.names, sample.unordered = sizes, ("a", "b"), ("b",)  # type: ignore[attr-defined]
        found = gather_arguments("dci", dci, sample, None, seed=0, protocol=PROTOCOLS["infogan_cr"])
        assert found["protocol"] == variant
        found = gather_arguments("sap", sap, sample, None, seed=0, protocol=PROTOCOLS["infogan_cr"])
        assert (found["protocol"], found["factor_types"]) == ("infogan_cr", ("continuous", "discrete"))
        found = gather_arguments("sap", sap, sample, None, seed=0, protocol=DEFAULT)
        assert set(found) == {"codes"}  # otherwise all factors are classified


def test_a_metric_may_ask_for_every_public_property_of_a_sample() -> None:
    properties = {
        name for name in dir(Sample) if not name.startswith("_") and not callable(getattr(Sample, name))
    }
    assert set(ARGUMENTS) == properties | {"sample", "rng"}
    assert set(ARGUMENTS) | {f"test_{name}" for name in properties} == SUPPLIED
    assert {"codes", "test_codes", "background", "unordered", "posterior", "strands", "decoder"} <= SUPPLIED
    for name, metric in available_metrics().items():
        check_metric(name, metric)


def test_the_documentation_lists_every_argument() -> None:
    page = (Path(__file__).parents[2] / "docs" / "own_metric.md").read_text()
    table = page.partition("| parameter | argument |\n|---|---|\n")[2].partition("\n\n")[0]
    listed = [name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split(" | ")[0])]
    assert sorted(listed) == sorted(ARGUMENTS)


def test_an_argument_that_is_not_supplied_is_named() -> None:
    def misspelled(code: Any) -> None: ...
    def misspelled_test(codes: Any, test_code: Any) -> None: ...
    def unnamed(codes: Any, /) -> None: ...

    with pytest.raises(
        ValueError,
        match=r"no argument for metrics such as mine named 'code'; did you mean codes.* The choices are sample, rng, .*"
        r"codes.*; a parameter with a default may have any name\.",
    ):
        check_metric("mine", misspelled)
    with pytest.raises(ValueError, match="named 'test_code'; did you mean test_codes"):
        check_metric("mine", misspelled_test)
    with pytest.raises(ValueError, match="the metric mine takes codes by position only"):
        check_metric("mine", unnamed)
    with pytest.raises(ValueError, match="parameters of the metric mine cannot be read"):
        check_metric("mine", max)
    check_metric("mine", lambda codes, anything=3, *args, **options: 0.0)


class Counter:
    """A metric that is an object."""

    def __call__(self, codes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN204
        return float(len(codes))


def test_partial_functions_and_objects_are_metrics() -> None:
    def share(codes: Any, rng: Any, level: float) -> float: ...

    fixed = functools.partial(functools.partial(share, rng=7), level=0.5)
    assert (metric_name(share), metric_name(fixed), metric_name(Counter())) == ("share", "share", "Counter")
    assert fixed_arguments(fixed) == {"rng": 7, "level": 0.5} and fixed_arguments(share) == {}
    assert required(share) == {"codes", "rng", "level"} and required(fixed) == {"codes"}
    assert set(arguments(fixed)) == {"codes"}  # the generator stays as it was set
    assert set(parameters(Counter())) == {"codes"} and set(arguments(Counter())) == {"codes"}
