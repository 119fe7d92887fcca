"""Metrics by name and reference, src/unbraid/evaluation/metric_names.py."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from unbraid.evaluation.metric_names import (
    available_metrics,
    find_metric,
    metric_family,
    metric_reference,
    score_name,
    split_strand,
)
from unbraid.metrics import mig
from unbraid.studies import Plan


def mean_norm(codes: np.ndarray) -> float:
    return float(np.linalg.norm(codes, axis=1).mean())


@pytest.mark.parametrize(
    ("metric", "parts"),
    [
        ("mig", ("", "mig")),
        ("common:mig", ("common", "mig")),
        ("own.py:rough", ("", "own.py:rough")),
        ("a/b.py:rough", ("", "a/b.py:rough")),
        ("my.module:rough", ("", "my.module:rough")),
        ("common:own.py:rough", ("common", "own.py:rough")),
        ("common:my.module:rough", ("common", "my.module:rough")),
        (":module:rough", ("", "module:rough")),
        ("common::module:rough", ("common", "module:rough")),
    ],
)
def test_a_strand_comes_before_the_metric(metric: str, parts: tuple[str, str]) -> None:
    assert split_strand(metric) == parts


def test_the_score_has_the_name_of_the_function() -> None:
    assert [score_name(metric) for metric in ("mig", "z:mig", "own.py:rough", "z:own.py:rough")] == [
        "mig",
        "z:mig",
        "rough",
        "z:rough",
    ]


def test_functions_are_found_by_name_and_stand_for_themselves() -> None:
    assert find_metric("common:mig") == ("mig", mig)
    assert find_metric(mean_norm) == ("mean_norm", mean_norm)
    assert metric_reference(mig) == "mig"
    assert metric_reference(mean_norm) == "tests.evaluation.test_metric_names:mean_norm"
    assert find_metric("mean_norm") == ("mean_norm", mean_norm)  # known from now on


def test_a_function_of_a_module_without_a_package_is_no_strand(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook, where functions belong to the module `__main__`, or in a package of one module."""
    notebook = ModuleType("__main__")
    exec("def rough(codes): return 1.0", vars(notebook))
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    plan = Plan("beta-vae", "sprites", metrics=(notebook.rough,))
    assert plan.metrics == (":__main__:rough",)
    assert Plan("beta-vae", "sprites", metrics=plan.metrics).metrics == plan.metrics
    assert find_metric(plan.metrics[0]) == ("rough", notebook.rough)
    assert [score_name(metric) for metric in (*plan.metrics, "z::lab:rough")] == ["rough", "z:rough"]


def test_own_code_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"your own code, nowhere\.py:rough.*--metrics PATH/nowhere\.py:rough"
    ):
        find_metric("nowhere.py:rough")
    (tmp_path / "measures.py").write_text("rough = 3")
    with pytest.raises(ValueError, match=r"a class or a function; .*rough is 3"):
        find_metric(metric_reference(f"{tmp_path}/measures.py:rough"))


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        ValueError, match=r"no metric 'modularty'; did you mean modularity\?.*or your own FILE\.py:FUNCTION"
    ):
        find_metric("modularty")


def test_families_say_what_a_metric_needs() -> None:
    assert metric_family(mig) == "Needs the true factors"
    assert metric_family(mean_norm) == "Needs codes alone"
    assert {"mig", "reconstruction", "kl"} <= available_metrics().keys()
