"""Charts, src/unbraid/report/charts.py."""

import numpy as np
import pytest

from unbraid.report.charts import (
    COLORS,
    DARK_COLORS,
    MAX_POINTS,
    Curves,
    chart_of,
    curve_chart,
    curves_of,
    downsample,
    file_bytes,
    kl_chart,
    line_style,
)

HISTORY = [
    {"step": 5, "seconds": 0.1, "loss": 700.0, "kl": 1.0},
    {"step": 10, "seconds": 0.2, "loss": 40.0, "kl": 2.0},
]


def test_curves_are_sorted_by_term_and_run() -> None:
    curves = curves_of(
        {"a": HISTORY, "b": [{"step": 5, "seconds": 0.1, "loss": 3.0}, {"step": 5, "validation": 4.0}]}
    )
    assert curves["loss"] == {"a": ([5, 10], [700.0, 40.0]), "b": ([5], [3.0])}
    assert curves["validation"] == {"b": ([5], [4.0])}
    assert list(curves) == ["loss", "kl", "validation"]


def test_a_steep_fall_gets_a_logarithmic_axis_and_a_rise_does_not() -> None:
    falling, rising = [700.0, 50.0, 40.0, 40.0], [0.01, 6.0, 7.0, 7.0]
    lines = [{"step": step, "loss": falling[step], "kl": rising[step]} for step in range(4)]
    curves = curves_of({"a": lines})
    assert curve_chart("loss", curves).axes[0].get_yscale() == "log"
    assert curve_chart("kl", curves).axes[0].get_yscale() == "linear"


def test_a_run_keeps_its_color_in_every_chart() -> None:
    curves = curves_of({"a": [{"step": 1, "nll": 1.0}], "b": HISTORY})
    (line,) = curve_chart("loss", curves).axes[0].lines
    (dark,) = curve_chart("loss", curves, dark=True).axes[0].lines
    assert (line.get_color(), dark.get_color()) == (COLORS[1], DARK_COLORS[1])


def test_bars_stand_in_the_order_of_their_height() -> None:
    (axes,) = kl_chart(np.array([0.5, 2.0, 1.0])).axes
    assert [bar.get_height() for bar in axes.patches] == [2.0, 1.0, 0.5]  # type: ignore[attr-defined]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "0"]


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_the_same_chart_gives_the_same_bytes(kind: str, start: bytes) -> None:
    once, again = (file_bytes(curve_chart("loss", curves_of({"a": HISTORY})), kind) for _ in range(2))  # type: ignore[arg-type]
    assert once == again and once.startswith(start)


def test_a_long_line_is_averaged_stretch_by_stretch() -> None:
    steps = list(range(3 * MAX_POINTS))
    at, values = downsample(steps, [2.0 * step for step in steps])
    assert len(at) == MAX_POINTS and at[:2] == [1.0, 4.0] and values[:2] == [2.0, 8.0]
    assert downsample([1, 2], [0.5, 0.6]) == ([1.0, 2.0], [0.5, 0.6])


def test_more_lines_than_colors_differ_by_their_stroke_and_are_named_beneath() -> None:
    styles = {line_style(index, dark=False) for index in range(20)}
    assert len(styles) == 20
    curves = curves_of({f"run {index}": HISTORY for index in range(9)})
    figure = curve_chart("loss", curves)
    assert figure.axes[0].get_legend() is None and len(figure.legends[0].get_texts()) == 9


def test_names_stay_within_a_chart_only_where_they_cover_no_line() -> None:
    def lines(*values: tuple[float, ...]) -> Curves:
        return curves_of(
            {
                f"run {at}": [{"step": step, "kl": v} for step, v in enumerate(line)]
                for at, line in enumerate(values)
            }
        )

    clear = curve_chart("kl", lines((5.0, 1.0, 0.2, 0.1), (4.0, 0.8, 0.1, 0.0)))
    assert clear.axes[0].get_legend() is not None and not clear.legends
    covered = curve_chart("kl", lines((5.0, 5.0, 5.0, 5.0), (0.0, 0.1, 0.0, 0.1), (0.2, 0.1, 0.1, 0.1)))
    assert covered.axes[0].get_legend() is None and len(covered.legends[0].get_texts()) == 3


def test_long_names_beneath_a_chart_stay_within_it() -> None:
    figure = curve_chart(
        "loss", curves_of({f"a-method-and-its-data-at-length-{run}": HISTORY for run in range(6)})
    )
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.width


def test_a_chart_is_drawn_on_both_grounds() -> None:
    grounds = []

    def draw(*, dark: bool) -> object:
        from matplotlib.figure import Figure

        grounds.append(dark)
        return Figure(figsize=(1, 1))

    chart = chart_of("Heading", "Caption", draw)
    assert grounds == [False, True, False] and chart.light.startswith(b"<?xml") and chart.png[1:4] == b"PNG"
