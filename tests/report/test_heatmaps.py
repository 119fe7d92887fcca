"""Heat maps of distributions, importances and rank correlations, src/unbraid/report/heatmaps.py."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from unbraid.data import Dataset, FactorSpace, apply_sampling
from unbraid.report.charts import file_bytes
from unbraid.report.heatmaps import importance_chart, joint, joint_chart, rank_chart


def dataset(size: int = 60) -> Dataset:
    space = FactorSpace({"a": 3, "b": 2})
    images = torch.randint(0, 255, (size, 1, 3, 3), generator=torch.Generator().manual_seed(0)).to(
        torch.uint8
    )
    return Dataset(images, name="made", factor_space=space, combinations=torch.arange(size) % 6)


def test_the_joint_distribution_is_exact_and_its_largest_entry_one() -> None:
    """The ridge of σ = 0.5: a in {0, ½, 1} and b in {0, 1}, at gaps of 0, ½ and 1."""
    table = joint(apply_sampling(dataset(), correlate=("a", "b"), correlation_sigma=0.5), "a", "b")
    one, half = np.exp(-0.5 / 0.25), np.exp(-0.125 / 0.25)
    assert_close(table, np.array([[1.0, one], [half, half], [one, 1.0]]))
    assert_close(joint(dataset(), "b", "a"), np.ones((2, 3)))
    with pytest.raises(ValueError, match="no factor 'c'"):
        joint(dataset(), "a", "c")
    with pytest.raises(ValueError, match="no known factors"):
        joint(Dataset(torch.zeros(4, 1, 2, 2), name="plain"), "a", "b")


def test_charts_are_files_on_both_grounds() -> None:
    importances = np.array([[0.9, 0.1], [0.2, 0.8], [0.0, 0.0]])
    for dark in (False, True):
        charts = [
            joint_chart(dataset(), "a", "b", dark=dark),
            importance_chart(importances, ["a", "b"], highlight=["a"], dark=dark),
            rank_chart(["dci", "sap"], np.array([[1.0, -0.4], [-0.4, 1.0]]), dark=dark),
        ]
        assert all(file_bytes(chart, "svg").startswith(b"<?xml") for chart in charts)


def test_the_correlated_factor_s_best_code_is_framed_in_red() -> None:
    chart = importance_chart(np.array([[0.1, 0.9], [0.8, 0.2]]), ["a", "b"], highlight=["a"])
    (frame,) = [patch for patch in chart.axes[0].patches]
    assert (frame.get_x(), frame.get_y()) == (-0.5, 0.5)  # type: ignore[attr-defined]
    assert chart.axes[0].get_xticklabels()[0].get_color() != chart.axes[0].get_xticklabels()[1].get_color()
    assert chart.axes[0].get_ylabel() == "dimension"
    strands = importance_chart(np.eye(2), ["a", "b"], rows=["z0", "z1"])
    assert strands.axes[0].get_ylabel() == "strand"
