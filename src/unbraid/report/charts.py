"""Charts: training curves and the KL divergence per dimension, drawn by Matplotlib without a display."""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

Curves = dict[str, dict[str, tuple[list[int], list[float]]]]  # steps and values of each run, by term
COLORS = ("#2f6fb5", "#d9772b", "#3d9a6d", "#a4559e", "#8c8c34", "#c2484d")
DARK_COLORS = ("#7db4ec", "#f0a35e", "#78cfa2", "#d592cf", "#cdcd74", "#ef8d8f")
STROKES = ("-", "--", ":", "-.")  # distinguish lines once all colors are used
CORNERS = ("upper right", "upper left", "lower left", "lower right")
LEGEND_WIDTH = 60  # characters per legend row
MAX_POINTS = 300  # per line; longer lines are averaged over equal intervals


class Chart(NamedTuple):
    """A chart of one run, for light and for dark backgrounds."""

    heading: str
    caption: str
    light: bytes
    dark: bytes
    png: bytes


def chart_of(heading: str, caption: str, draw: Callable[..., Any]) -> Chart:
    """A chart for both backgrounds, from a function with the argument `dark` that returns a Matplotlib figure."""
    light, dark = (file_bytes(draw(dark=dark), "svg") for dark in (False, True))
    return Chart(heading, caption, light, dark, file_bytes(draw(dark=False), "png"))


def curves_of(histories: Mapping[str, Sequence[Mapping[str, float | int]]]) -> Curves:
    """The curves of several runs, grouped by term."""
    curves: Curves = {}
    for run, history in histories.items():
        for line in history:
            for term, value in line.items():
                if term not in ("step", "seconds"):
                    steps, values = curves.setdefault(term, {}).setdefault(run, ([], []))
                    steps.append(int(line["step"]))
                    values.append(float(value))
    return curves


def curve_chart(term: str, curves: Curves, *, dark: bool = False) -> "Figure":
    """One loss term over the training steps, one line per run."""
    figure, axes = chart(dark)
    values = np.concatenate([np.asarray(line) for _, line in curves[term].values()])
    names = list(dict.fromkeys(run for term in curves.values() for run in term))  # a run keeps its color
    for run, (steps, line) in curves[term].items():
        color, stroke = line_style(names.index(run), dark)
        marker = "o" if len(steps) == 1 else None  # a line of one point has no length
        axes.plot(
            *downsample(steps, line), color=color, linestyle=stroke, linewidth=1.6, marker=marker, label=run
        )
    if values.min() > 0 and values.max() > 8 * np.median(values):
        _plain_logarithmic(axes)
    axes.set_title(term, loc="left", fontsize=10, color=axes.yaxis.label.get_color())
    axes.set_xlabel("step")
    axes.set_ylabel("nats per image")
    if len(names) > 1:
        add_legend(figure, axes, len(names))
    return figure


def downsample(steps: Sequence[int], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """At most MAX_POINTS points of a line: means over intervals of equal length."""
    if len(steps) <= MAX_POINTS:
        return [float(step) for step in steps], list(values)
    intervals = np.array_split(np.arange(len(steps)), MAX_POINTS)
    x, y = np.asarray(steps, float), np.asarray(values)
    return [float(x[rows].mean()) for rows in intervals], [float(y[rows].mean()) for rows in intervals]


def line_style(index: int, dark: bool) -> tuple[str, str]:
    """Color and stroke of the line with this index."""
    colors = DARK_COLORS if dark else COLORS
    return colors[index % len(colors)], STROKES[index // len(colors) % len(STROKES)]


def add_legend(figure: "Figure", axes: "Axes", lines: int) -> None:
    """Adds a legend: in a corner if few lines leave one free, otherwise below the chart."""
    style: dict[str, Any] = {"frameon": False, "labelcolor": "linecolor"}
    if lines <= 4:
        ends = np.concatenate([np.asarray(line.get_ydata())[-1:] for line in axes.get_lines()])
        low, high = axes.get_ylim()
        falls = ends.mean() < (low + high) / 2  # keeps the legend away from the ends of the lines
        legend = axes.legend(fontsize=9, handlelength=1.2, **style)
        for corner in CORNERS if falls else CORNERS[::-1]:
            legend.set_loc(corner)
            if not _covers(legend, axes):
                return
        legend.remove()
    longest = max(len(str(line.get_label())) for line in axes.get_lines())
    columns = max(1, min(3, LEGEND_WIDTH // longest))
    rows = -(-lines // columns)
    figure.set_size_inches(4.2, 2.7 + 0.19 * rows)
    figure.legend(
        loc="outside lower center", ncols=columns, fontsize=7.5, handlelength=1.8, columnspacing=1.0, **style
    )


def _covers(legend: "Legend", axes: "Axes") -> bool:
    """Whether a legend overlaps one of the lines."""
    figure = legend.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    lines = (line for line in axes.get_lines() if line.get_linestyle() != "None")  # without error bar caps
    paths = (line.get_path().transformed(line.get_transform()) for line in lines)
    return any(path.intersects_bbox(box, filled=False) or box.count_contains(path.vertices) for path in paths)


def kl_chart(per_dim: Float[np.ndarray, " d"], *, dark: bool = False) -> "Figure":
    """KL divergence per dimension in nats, largest first."""
    figure, axes = chart(dark)
    order = np.argsort(-per_dim, kind="stable")
    axes.bar(range(len(order)), per_dim[order], color=(DARK_COLORS if dark else COLORS)[0], width=0.7)
    axes.set_xticks(range(len(order)), [str(dim) for dim in order])
    axes.set_title("KL per dimension", loc="left", fontsize=10, color=axes.yaxis.label.get_color())
    axes.set_xlabel("dimension")
    axes.set_ylabel("nats per image")
    return figure


def file_bytes(figure: "Figure", kind: Literal["svg", "png"]) -> bytes:
    """The chart as a file; equal charts give equal bytes."""
    import matplotlib

    file = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "unbraid"}):
        figure.savefig(
            file, format=kind, dpi=200, metadata=metadata, facecolor="none" if kind == "svg" else "white"
        )
    return file.getvalue()


def chart(dark: bool, size: tuple[float, float] = (4.2, 2.7)) -> "tuple[Figure, Axes]":
    """An empty chart in the style of the report."""
    figure, (axes,) = panels_of(1, dark, width=size[0], height=size[1])
    return figure, axes


def _plain_logarithmic(axes: "Axes") -> None:
    """Logarithmic y axis with plain tick labels (0.1, 2, 50)."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def foreground_color(dark: bool) -> str:
    """Color of text and lines on a dark or a light background."""
    return "#c9ced6" if dark else "#4a4f57"


def panels_of(
    count: int, dark: bool, *, width: float, height: float, columns: int | None = None
) -> "tuple[Figure, list[Axes]]":
    """A grid of axes without top and right spines."""
    from matplotlib.figure import Figure

    columns = columns or count
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    line: Any = "#474c55" if dark else "#c9ced6"
    panels = []
    for index in range(count):
        axes = figure.add_subplot(rows, columns, index + 1)
        axes.set_facecolor("none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(line)
        axes.tick_params(color=line, labelcolor=foreground_color(dark), labelsize=8.5, which="both")
        axes.grid(axis="y", color=line, linewidth=0.5, alpha=0.6)
        axes.set_axisbelow(True)
        for axis in (axes.xaxis, axes.yaxis):
            axis.label.set(color=foreground_color(dark), fontsize=9)
        panels.append(axes)
    return figure, panels
