"""Small pictures and tables for notebooks, as HTML in which every name is escaped."""

import base64
import html
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from unbraid.data.dataset import Dataset
    from unbraid.model import Model
    from unbraid.runs import Run
    from unbraid.strands import Strands

SHOWN = 8  # images, or columns of rows
SIDE = 48  # pixels, at most, of an image; so a picture of noise stays small too
LINES = 5  # of a table of rows
VALUES = 6  # of a factor, by name


def table(heading: Sequence[object], lines: Iterable[Sequence[object]]) -> str:
    """A table of text, without columns that are empty; nothing in it can be markup."""
    kept = [list(map(str, line)) for line in lines]
    shown = [place for place in range(len(heading)) if any(line[place] for line in kept)]
    head = "".join(f"<th>{_text(heading[place])}</th>" for place in shown)
    body = ["".join(f"<td>{_text(line[place])}</td>" for place in shown) for line in kept]
    rows = "".join(f"<tr>{line}</tr>" for line in body)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def title(text: str) -> str:
    """What is shown, above it."""
    return f"<p><b>{_text(text)}</b></p>"


def picture(png: bytes, said: str, *, scale: int = 1) -> str:
    """A picture with its description, each of its pixels shown as several."""
    data = base64.b64encode(png).decode()
    width = scale * int.from_bytes(png[16:20], "big")  # as the head of a PNG has it
    style = "image-rendering:pixelated"
    return f'<img alt="{_text(said)}" width="{width}" style="{style}" src="data:image/png;base64,{data}">'


def curve(values: Sequence[float], said: str) -> str:
    """A line through values, from the left to the right; what is not finite is left out."""
    finite = [value for value in values if math.isfinite(value)]
    points = finite[:: max(1, len(finite) // 200)]
    if len(points) < 2:
        return ""
    low, span = min(points), max(points) - min(points) or 1.0
    line = " ".join(
        f"{2 + 236 * place / (len(points) - 1):.1f},{46 - 44 * (value - low) / span:.1f}"
        for place, value in enumerate(points)
    )
    return (
        f'<svg role="img" aria-label="{_text(said)}" width="240" height="48" viewBox="0 0 240 48">'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def dataset_html(dataset: "Dataset") -> str:
    """A few observations, and the factors that are known of them."""
    size = "×".join(map(str, dataset.shape))
    kind = "images" if dataset.images else "rows"
    parts = [title(f"{dataset.name}: {len(dataset):,} {kind} of {size}")]
    if dataset.images:
        beside = (
            "" if dataset.background is None else f", and below of its background {dataset.background.name}"
        )
        scale = max(1, round(64 / max(dataset.shape[1:])))
        parts.append(picture(dataset_png(dataset), f"{SHOWN} images of {dataset.name}{beside}", scale=scale))
    else:
        parts.append(_rows(dataset))
    if dataset.space is not None:
        sizes = zip(dataset.space.names, dataset.space.sizes, strict=True)
        lines = [(name, count, _role(dataset, name), _values(dataset, name)) for name, count in sizes]
        parts.append(table(("factor", "values", "role", "called"), lines))
    else:
        parts.append("<p>No known factors.</p>")
    return "".join(parts)


def dataset_png(dataset: "Dataset") -> bytes:
    """A row of images, and one of the background below."""
    return png(*(_drawn(part) for part in (dataset, dataset.background) if part is not None))


def run_html(run: "Run") -> str:
    """What was trained, how far it is, its loss and its scores."""
    training, history = run.settings["training"], run.history()
    lines = [
        ("state", "finished" if run.finished else "unfinished"),
        ("step", f"{history[-1]['step'] if history else 0:,} of {run.steps:,}"),
        ("batch", training.get("batch", "")),
        ("seed", run.seed),
        ("folder", run.folder),
    ]
    losses = [line["loss"] for line in history if "loss" in line]
    parts = [title(f"{run.method_name} on {run.data_name}"), table(("", ""), lines)]
    if losses:
        parts.append(f"<p>loss, to {losses[-1]:.4g}<br>{curve(losses, 'the loss by step')}</p>")
    scores = run.scores()
    return "".join([*parts, scores_html(scores) if scores else "<p>Not scored yet.</p>"])


def scores_html(scores: Sequence[Mapping[str, Any]]) -> str:
    """Every score with what it depends on."""
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
    return table(("metric", "value", "protocol", "n", "n tested on", "seed", "on"), lines)


def model_html(model: "Model") -> str:
    """What was trained, and its strands."""
    size = "×".join(map(str, model.shape))
    return title(f"{model.method.name()} of observations {size}") + strands_html(model.strands)


def strands_html(strands: "Strands") -> str:
    """Which dimensions each strand has."""
    lines = [
        (name, len(strands[name]), _some(strands[name], 12), "default" if name == strands.default else "")
        for name in strands
    ]
    return table(("strand", "dimensions", "of the code", ""), lines)


def failures_html(failures: Sequence[Mapping[str, Any]]) -> str:
    """The runs of a study that failed; nothing where none did."""
    lines = [(failure.get("plan", ""), failure.get("error", "")) for failure in failures]
    return table(("failed", "error"), lines) if lines else ""


def png(*rows: "torch.Tensor") -> bytes:
    """Rows of images side by side, brought to a small size."""
    from PIL import Image

    tiles = [[_tile(image) for image in row] for row in rows]
    width, height = tiles[0][0].size
    sheet = Image.new("RGB", (SHOWN * (width + 2) - 2, len(tiles) * (height + 2) - 2), (128, 128, 128))
    for line, row in enumerate(tiles):
        for place, tile in enumerate(row):
            sheet.paste(tile, (place * (width + 2), line * (height + 2)))
    content = io.BytesIO()
    sheet.save(content, "PNG", optimize=True)
    return content.getvalue()


def _tile(image: "torch.Tensor") -> Any:
    from PIL import Image

    pixels = (image.detach().cpu().float().clamp(0, 1) * 255).round().byte()
    if len(pixels) != 3:  # grey; of other numbers of channels, the first
        pixels = pixels[:1].expand(3, -1, -1)
    tile = Image.fromarray(pixels.movedim(0, -1).contiguous().numpy())
    larger = max(tile.size)
    if larger <= SIDE:
        return tile
    width, height = (max(1, round(side * SIDE / larger)) for side in tile.size)
    return tile.resize((width, height), Image.Resampling.BOX)


def _drawn(dataset: "Dataset") -> "torch.Tensor":
    """A few observations by lot, always the same."""
    import torch

    space = dataset.space
    law = () if space is None else (space.support, space.weights)
    held = (dataset.source, dataset.combinations, *law)
    place = next((entry.device for entry in held if isinstance(entry, torch.Tensor)), torch.device("cpu"))
    return dataset.observe(dataset.draw(SHOWN, torch.Generator(place).manual_seed(0)))


def _rows(dataset: "Dataset") -> str:
    values = _drawn(dataset)[:LINES, :SHOWN].tolist()
    count = dataset.shape[0]
    names = [f"x{place}" for place in range(count)] if dataset.columns is None else dataset.columns.names
    more = ["…"] if count > SHOWN else []
    lines = [[*(f"{value:.3g}" for value in row), *more] for row in values]
    return table([*names[:SHOWN], *more], lines)


def _role(dataset: "Dataset", name: str) -> str:
    roles = {"label": (dataset.label,), "nuisance": dataset.nuisances, "unknown nuisance": dataset.unknown}
    roles["instance"] = (dataset.instance,)
    return ", ".join(role for role, names in roles.items() if name in names)


def _values(dataset: "Dataset", name: str) -> str:
    return _some(dataset.value_names.get(name, ()), VALUES)


def _some(values: Sequence[object], most: int) -> str:
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")


def _text(value: object) -> str:
    return html.escape(str(value), quote=True)
