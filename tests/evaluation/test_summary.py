"""Metrics in one line, src/unbraid/evaluation/summary.py."""

import functools
import inspect
import re
from pathlib import Path

import pytest

from unbraid import metrics
from unbraid.evaluation.metric_names import available_metrics
from unbraid.evaluation.summary import metric_summary, result_direction
from unbraid.metrics import Direction, clustering, kl_per_dim, mig


def test_a_summary_has_the_direction_and_the_range() -> None:
    assert metric_summary(mig).endswith("second-best dimension. Higher is better, 0 to 1.")
    assert metric_summary(functools.partial(mig, bins=10)) == metric_summary(mig)
    assert metric_summary(kl_per_dim).endswith("Neither direction is better, at least 0.")
    assert metric_summary(clustering).endswith("Higher is better; lower in common, 0 to 1.")


def test_a_function_of_ones_own_needs_no_annotations() -> None:
    def plain(codes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """Mean code."""

    def unresolved(codes: "Missing") -> "Missing": ...  # type: ignore[name-defined]  # noqa: F821

    assert metric_summary(plain) == "Mean code." and result_direction(plain) is None
    assert metric_summary(unresolved) == "" and result_direction(unresolved) is None


@pytest.mark.parametrize("name", available_metrics())
def test_every_metric_of_unbraid_states_its_direction_and_its_bounds(name: str) -> None:
    metric = available_metrics()[name]
    direction = result_direction(metric)
    assert isinstance(direction, Direction)

    result = inspect.signature(metric, eval_str=True).return_annotation
    assert {"higher_is_better", "bounds"} <= vars(result).keys()


def documented() -> dict[str, tuple[str, str]]:
    """The direction and the range of each metric as the tables of docs/metrics.md have them."""
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    rows = re.findall(r"^\| `(\w+)`[^|]* \| [^|]* \| ([^|]*) \| ([^|]*) \|", page, re.MULTILINE)
    return {name: (better, values) for name, better, values in rows}


def test_the_documentation_states_the_direction_and_the_range_of_every_metric() -> None:
    several = ("udr", "model_centrality", "w2", "bootstrap")
    functions = available_metrics() | {name: getattr(metrics, name) for name in several}
    pages = documented()
    assert pages.keys() >= functions.keys()
    for name, metric in functions.items():
        direction = result_direction(metric)
        assert direction is not None
        better = {True: "higher", False: "lower", None: "neither"}[direction.higher_is_better]
        strands = "".join(f"; lower in `{strand}`" for strand in direction.lower_is_better_in)
        assert pages[name] == (better + strands, direction.range or "–"), name
