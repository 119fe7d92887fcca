"""Displays for notebooks: datasets, runs, models, strands and scores as small HTML tables and images.

The templates are in the folder of this file. Jinja2 escapes every name that they show.
"""

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.display.images import COLUMNS, png
from unbraid.display.shown import Dataset, Model, Run, Strands

if TYPE_CHECKING:
    import torch
    from jinja2 import Environment

MAX_ROWS = 5  # of a dataset of rows
MAX_VALUES = 6  # value names per factor
MAX_DIMENSIONS = 12  # numbers per strand
MAX_POINTS = 200  # of a curve


def table(heading: Sequence[object], lines: Iterable[Sequence[object]]) -> str:
    """A table of text without its empty columns."""
    cells = [list(map(str, line)) for line in lines]
    columns = [index for index in range(len(heading)) if any(line[index] for line in cells)]
    return _render(
        "table.html",
        heading=[heading[index] for index in columns],
        lines=[[line[index] for index in columns] for line in cells],
    )


def image(content: bytes, description: str, *, scale: int = 1) -> str:
    """A PNG image with a text alternative, enlarged `scale` times."""
    width = int.from_bytes(content[16:20], "big")  # from the PNG header
    data = base64.b64encode(content).decode()
    return _render("image.html", data=data, description=description, width=scale * width)


def curve(values: Sequence[float], description: str) -> str:
    """A line chart of the finite values; empty when fewer than two are finite."""
    finite = [value for value in values if math.isfinite(value)]
    chosen = finite[:: max(1, len(finite) // MAX_POINTS)]
    if len(chosen) < 2:
        return ""
    low, span = min(chosen), max(chosen) - min(chosen) or 1.0
    points = " ".join(
        f"{2 + 236 * index / (len(chosen) - 1):.1f},{46 - 44 * (value - low) / span:.1f}"
        for index, value in enumerate(chosen)
    )
    return _render("curve.html", points=points, description=description)


def dataset_html(dataset: Dataset) -> str:
    """A few observations and the known factors."""
    return _render(
        "dataset.html",
        name=dataset.name,
        size=f"{len(dataset):,}",
        kind="images" if dataset.images else "rows",
        shape="×".join(map(str, dataset.shape)),
        observations=_images(dataset) if dataset.images else _rows(dataset),
        factors="" if dataset.factor_space is None else _factors(dataset),
    )


def dataset_png(dataset: Dataset) -> bytes:
    """A row of images; below it a row of the background, if there is one."""
    return png(*(_examples(shown) for shown in (dataset, dataset.background) if shown is not None))


def run_html(run: Run) -> str:
    """Settings, progress, loss and scores of a run."""
    training, history, scores = run.settings["training"], run.history(), run.scores()
    facts = [
        ("state", "finished" if run.finished else "unfinished"),
        ("step", f"{history[-1]['step'] if history else 0:,} of {run.steps:,}"),
        ("batch size", training.get("batch_size", "")),
        ("seed", run.seed),
        ("folder", run.folder),
    ]
    losses = [line["loss"] for line in history if "loss" in line]
    return _render(
        "run.html",
        run=run,
        facts=table(("", ""), facts),
        losses=losses,
        curve=curve(losses, "loss by step"),
        scores=scores_html(scores) if scores else "",
    )


def scores_html(scores: Sequence[Mapping[str, Any]]) -> str:
    """One line per score with its protocol, sample sizes and seed."""
    lines = [
        (
            score["metric"],
            f"{score['value']:.4f}",
            score["protocol"],
            score["n"],
            score["n_test"] or "",
            score["seed"],
            score.get("on", ""),
        )
        for score in scores
    ]
    return table(("metric", "value", "protocol", "n", "n test", "seed", "dataset"), lines)


def model_html(model: Model) -> str:
    """The method, the shape of its observations, and its strands."""
    shape = "×".join(map(str, model.shape))
    return _render("model.html", name=model.method.name(), shape=shape, strands=strands_html(model.strands))


def strands_html(strands: Strands) -> str:
    """The dimensions of each strand."""
    lines = [
        (
            name,
            len(strands[name]),
            _shortened(strands[name], MAX_DIMENSIONS),
            "default" if name == strands.default else "",
        )
        for name in strands
    ]
    return table(("strand", "size", "dimensions", ""), lines)


def failures_html(failures: Sequence[Mapping[str, Any]]) -> str:
    """The failed runs of a study; empty when no run failed."""
    lines = [(failure.get("plan", ""), failure.get("error", "")) for failure in failures]
    return table(("failed run", "error"), lines) if lines else ""


def _images(dataset: Dataset) -> str:
    description = f"{COLUMNS} images of {dataset.name}"
    if dataset.background is not None:
        description += f"; below, {COLUMNS} images of its background {dataset.background.name}"
    scale = max(1, round(64 / max(dataset.shape[1:])))
    return image(dataset_png(dataset), description, scale=scale)


def _rows(dataset: Dataset) -> str:
    values = _examples(dataset)[:MAX_ROWS, :COLUMNS].tolist()
    count = dataset.shape[0]
    names = [f"x{index}" for index in range(count)] if dataset.columns is None else dataset.columns.names
    more = ["…"] if count > COLUMNS else []
    lines = [[*(f"{value:.3g}" for value in row), *more] for row in values]
    return table([*names[:COLUMNS], *more], lines)


def _factors(dataset: Dataset) -> str:
    sizes = zip(dataset.factor_space.names, dataset.factor_space.sizes, strict=True)
    lines = [
        (name, size, _role(dataset, name), _shortened(dataset.value_names.get(name, ()), MAX_VALUES))
        for name, size in sizes
    ]
    return table(("factor", "values", "role", "value names"), lines)


def _role(dataset: Dataset, name: str) -> str:
    roles = {
        "label": (dataset.label,),
        "nuisance": dataset.nuisances,
        "hidden nuisance": dataset.hidden_nuisances,
        "instance": (dataset.instance,),
    }
    return ", ".join(role for role, names in roles.items() if name in names)


def _examples(dataset: Dataset) -> "torch.Tensor":
    """A few random observations, the same ones at every call."""
    import torch

    space = dataset.factor_space
    distribution = () if space is None else (space.support, space.weights)
    stored = (dataset.source, dataset.combinations, *distribution)
    device = next((part.device for part in stored if isinstance(part, torch.Tensor)), torch.device("cpu"))
    return dataset.raw(dataset.sample_indices(COLUMNS, torch.Generator(device).manual_seed(0)))


def _shortened(values: Sequence[object], count: int) -> str:
    return ", ".join(map(str, values[:count])) + (", …" if len(values) > count else "")


def _render(template: str, **context: Any) -> str:
    """A template with names escaped; it inserts HTML that is already rendered with the filter `safe`."""
    return _environment().get_template(template).render(**context)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
    )
