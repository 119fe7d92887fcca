"""Charts of strands, src/unbraid/report/strand_charts.py."""

import numpy as np
import pytest

from unbraid.report.charts import file_bytes
from unbraid.report.strand_charts import change_chart, map_chart
from unbraid.report.strand_figures import DimChanges, StrandMaps
from unbraid.strands import Strands

CHANGES = DimChanges(("class", "angle"), np.array([[1.0, 0.2, 0.0], [0.1, 0.0, 0.8]]))


@pytest.mark.parametrize("dark", [False, True])
def test_a_heat_map_goes_strand_by_strand(dark: bool) -> None:
    strands = Strands({"whole": [0, 1, 2], "second": [2], "first": [0, 1]}, size=3)
    figure = change_chart(CHANGES, strands, dark=dark)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "0", "1"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["class", "angle"]
    assert [text.get_text() for text in axes.texts] == ["second", "first"]
    assert axes.images[0].get_array().tolist() == [[0.0, 1.0, 0.2], [0.8, 0.1, 0.0]]
    assert file_bytes(figure, "svg") == file_bytes(change_chart(CHANGES, strands, dark=dark), "svg")


def test_of_many_codes_those_that_move_most_are_shown() -> None:
    """20 codes that move by 0.05, 0.10, … 1, of which 16 are shown, and one of no strand."""
    change = np.append(np.arange(1, 21) / 20, 0.5)[None]
    figure = change_chart(DimChanges(("class",), change), Strands({"many": list(range(20))}, size=21))
    shown = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert shown == [str(code) for code in (*range(4, 20), 20)]
    assert [text.get_text() for text in figure.axes[0].texts] == ["many, 16 of 20", ""]


def test_a_map_names_its_values_in_order() -> None:
    points = {"one": np.arange(8.0).reshape(4, 2), "two": np.zeros((4, 2))}
    figure = map_chart(StrandMaps(points, "angle", np.array(["+65", "-75", "+65", "0"])))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "two"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["-75", "0", "+65"]
    assert len(figure.axes[0].collections[2].get_offsets()) == 2


def test_colors_are_shown_as_themselves() -> None:
    figure = map_chart(StrandMaps({"one": np.zeros((2, 2))}, "ink", np.array(["ff0000", "00ff00"])))
    faces = [tuple(points.get_facecolor()[0]) for points in figure.axes[0].collections]
    assert faces == [(0.0, 1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0)]
