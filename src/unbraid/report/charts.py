"""Charts: training curves and the KL divergence of each code, by Matplotlib without a display."""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

Curves = dict[str, dict[str, tuple[list[int], list[float]]]]  # of each term, the steps and values of each run
COLOURS = ("#2f6fb5", "#d9772b", "#3d9a6d", "#a4559e", "#8c8c34", "#c2484d")
DARK_COLOURS = ("#7db4ec", "#f0a35e", "#78cfa2", "#d592cf", "#cdcd74", "#ef8d8f")
STROKES = ("-", "--", ":", "-.")  # for more lines than colours
CORNERS = ("upper right", "upper left", "lower left", "lower right")
LEGEND = 60  # letters in a row of names
MOST_POINTS = 300  # of a line; longer ones are averaged, stretch by stretch


def curves_of(histories: Mapping[str, Sequence[Mapping[str, float | int]]]) -> Curves:
    """The terms of several runs' histories, term by term."""
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
    """One term of the loss over training, a line for each run."""
    figure, axes = chart(dark)
    values = np.concatenate([np.asarray(line) for _, line in curves[term].values()])
    names = list(dict.fromkeys(run for term in curves.values() for run in term))  # a run keeps its colour
    for run, (steps, line) in curves[term].items():
        colour, stroke = line_style(names.index(run), dark)
        axes.plot(*thinned(steps, line), color=colour, linestyle=stroke, linewidth=1.6, label=run)
    if values.min() > 0 and values.max() > 8 * np.median(values):
        _plain_logarithmic(axes)
    axes.set_title(term, loc="left", fontsize=10, color=axes.yaxis.label.get_color())
    axes.set_xlabel("step")
    axes.set_ylabel("nats per image")
    if len(names) > 1:
        add_legend(figure, axes, len(names))
    return figure


def thinned(steps: Sequence[int], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """A line of no more points than a page can show: means over stretches of equal length."""
    if len(steps) <= MOST_POINTS:
        return [float(step) for step in steps], list(values)
    stretches = np.array_split(np.arange(len(steps)), MOST_POINTS)
    at, height = np.asarray(steps, float), np.asarray(values)
    return [float(at[part].mean()) for part in stretches], [float(height[part].mean()) for part in stretches]


def line_style(place: int, dark: bool) -> tuple[str, str]:
    """The colour and the stroke of a line by its place among others."""
    colours = DARK_COLOURS if dark else COLOURS
    return colours[place % len(colours)], STROKES[place // len(colours) % len(STROKES)]


def add_legend(figure: "Figure", axes: "Axes", lines: int) -> None:
    """Names of the lines: in a corner of a chart of a few, where they cover none of them, else beneath."""
    style: dict[str, Any] = {"frameon": False, "labelcolor": "linecolor"}
    if lines <= 4:
        ends = np.concatenate([np.asarray(line.get_ydata())[-1:] for line in axes.get_lines()])
        low, high = axes.get_ylim()
        falls = ends.mean() < (low + high) / 2  # so that the names stay clear of where the lines end
        legend = axes.legend(fontsize=9, handlelength=1.2, **style)
        for corner in CORNERS if falls else CORNERS[::-1]:
            legend.set_loc(corner)
            if not _covers(legend, axes):
                return
        legend.remove()
    longest = max(len(str(line.get_label())) for line in axes.get_lines())
    columns = max(1, min(3, LEGEND // longest))
    rows = -(-lines // columns)
    figure.set_size_inches(4.2, 2.7 + 0.19 * rows)
    figure.legend(
        loc="outside lower center", ncols=columns, fontsize=7.5, handlelength=1.8, columnspacing=1.0, **style
    )


def _covers(legend: "Legend", axes: "Axes") -> bool:
    """Whether a legend lies over one of the lines."""
    figure = legend.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    lines = (line for line in axes.get_lines() if line.get_linestyle() != "None")  # no ends of error bars
    paths = (line.get_path().transformed(line.get_transform()) for line in lines)
    return any(path.intersects_bbox(box, filled=False) or box.count_contains(path.vertices) for path in paths)


def kl_chart(per_code: Float[np.ndarray, " d"], *, dark: bool = False) -> "Figure":
    """How many nats each code spends, most first."""
    figure, axes = chart(dark)
    order = np.argsort(-per_code, kind="stable")
    axes.bar(range(len(order)), per_code[order], color=(DARK_COLOURS if dark else COLOURS)[0], width=0.7)
    axes.set_xticks(range(len(order)), [str(code) for code in order])
    axes.set_title("KL of each code", loc="left", fontsize=10, color=axes.yaxis.label.get_color())
    axes.set_xlabel("code")
    axes.set_ylabel("nats per image")
    return figure


def file_bytes(figure: "Figure", kind: Literal["svg", "png"]) -> bytes:
    """The chart as a file; the same chart always gives the same bytes."""
    import matplotlib

    file = io.BytesIO()
    plain: dict[str, Any] = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "unbraid"}):
        figure.savefig(
            file, format=kind, dpi=200, metadata=plain, facecolor="none" if kind == "svg" else "white"
        )
    return file.getvalue()


def chart(dark: bool, size: tuple[float, float] = (4.2, 2.7)) -> "tuple[Figure, Axes]":
    """An empty chart in the style of the page."""
    figure, (axes,) = panels_of(1, dark, width=size[0], height=size[1])
    return figure, axes


def _plain_logarithmic(axes: "Axes") -> None:
    """A logarithmic axis with numbers as people write them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def ink_of(dark: bool) -> str:
    return "#c9ced6" if dark else "#4a4f57"


def panels_of(
    count: int, dark: bool, *, width: float, height: float, columns: int | None = None
) -> "tuple[Figure, list[Axes]]":
    """Axes side by side, as many to a row as asked for, without the lines that a chart does not need."""
    from matplotlib.figure import Figure

    columns = columns or count
    rows = -(-count // columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    line: Any = "#474c55" if dark else "#c9ced6"
    panels = []
    for place in range(count):
        axes = figure.add_subplot(rows, columns, place + 1)
        axes.set_facecolor("none")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            axes.spines[side].set_color(line)
        axes.tick_params(color=line, labelcolor=ink_of(dark), labelsize=8.5, which="both")
        axes.grid(axis="y", color=line, linewidth=0.5, alpha=0.6)
        axes.set_axisbelow(True)
        for axis in (axes.xaxis, axes.yaxis):
            axis.label.set(color=ink_of(dark), fontsize=9)
        panels.append(axes)
    return figure, panels
