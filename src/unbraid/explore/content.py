"""The content of an explorer page as plain data."""

import io
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image

from unbraid.explore.examples import POOL, Examples, Factor, class_averages
from unbraid.explore.matrices import matrix_of
from unbraid.explore.packing import pack_float32, pack_table
from unbraid.methods import HasPosterior, feature_strand_names
from unbraid.report import Activity, about, activity, score_rows, uri
from unbraid.runs import Model, Run
from unbraid.strands import Strands
from unbraid.types import Observations

ACROSS = 16  # observations per row of the sheet
MAX_VALUES = 64  # of a factor with class averages
PRIOR = 3.0  # least range of a slider with a standard normal prior


def content_of(run: Run, model: Model, examples: Examples, *, shown: int, note: str = "") -> dict[str, Any]:
    """The content of the page without the decoder.

    Args:
        run: Source of names, scores and settings.
        model: The model of the run.
        examples: Observations; ranges and averages use all of them.
        shown: Number of examples on the page; POOL times as many are searched for neighbors.
        note: Sentence about the source of the examples, if it is not the dataset of the run.
    """
    method, citation, sentence = about(run)
    pool = min(len(examples.x), POOL * shown)
    dim_activity = _activity(model, examples)
    return {
        "title": f"{method.partition(':')[0]} on {run.data_name}",
        "method": run.method_name,
        "citation": citation,
        "sentence": sentence,
        "run": run.identity,
        "note": note,
        "shape": list(model.shape),
        "strands": [{"name": name, "dims": list(dims)} for name, dims in model.strands.items()],
        "groups": groups(model.strands, dim_activity),
        "strand": model.strands.default,
        "activity": {"amounts": pack_float32(dim_activity.amounts), "unit": dim_activity.unit},
        "ranges": pack_float32(ranges(model, examples)),
        "center": pack_float32(examples.codes.mean(0)),
        "std": pack_float32(examples.codes.std(0)),
        "examples": _examples(model, examples, pool, shown),
        "factors": [_factor(examples, factor, pool) for factor in examples.factors],
        "label": examples.label,
        "matrix": _matrix(run, model, examples, dim_activity),
        "scores": _scores(run),
    }


def _examples(model: Model, examples: Examples, pool: int, shown: int) -> dict[str, Any]:
    images = len(model.shape) == 3
    conditional = examples.condition is not None and model.method.conditions_on == "nuisances"
    return {
        "shown": min(shown, pool),
        "codes": pack_table(examples.codes[:pool]),
        "condition": pack_float32(examples.condition[:pool]) if conditional else None,  # type: ignore[index]
        "rows": None if images else pack_float32(examples.x[:pool]),
        "sheet": sheet(examples.x[:pool]) if images else None,
        "across": ACROSS,
    }


def _factor(examples: Examples, factor: Factor, pool: int) -> dict[str, Any]:
    few = len(factor.values) <= MAX_VALUES
    return {
        "name": factor.name,
        "values": list(factor.values),
        "of": factor.value_index[:pool].tolist(),
        "means": pack_float32(class_averages(examples, factor)) if few else None,
    }


def _scores(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "metric": row.metric,
            "value": row.values[0],
            "description": row.description,
            "protocol": row.protocol,
            "n": row.n,
            "on": row.dataset,
        }
        for row in score_rows({run.method_name: run.scores()})
        if row.values[0] is not None and np.isfinite(row.values[0])
    ]


def groups(strands: Strands, dim_activity: Activity) -> list[dict[str, Any]]:
    """The dimensions grouped by the smallest strand that contains them, most active first."""
    home: dict[int, str] = {}
    for name, dims in sorted(strands.items(), key=lambda entry: -len(entry[1])):
        home |= dict.fromkeys(dims, name)
    grouped = {name: [dim for dim in dim_activity.order if home.get(dim) == name] for name in strands}
    grouped["no strand"] = [dim for dim in dim_activity.order if dim not in home]
    return [{"name": name, "dims": dims} for name, dims in grouped.items() if dims]


def ranges(model: Model, examples: Examples) -> Float[np.ndarray, "2 d"]:
    """Range of each slider: slightly beyond the codes of the examples, and at least ±PRIOR with a prior."""
    codes = examples.codes.numpy()
    low, high = codes.min(0), codes.max(0)
    margin = np.maximum(0.1 * (high - low), 0.02 * max(float((high - low).max()), 1e-3))
    low, high = low - margin, high + margin
    if isinstance(model.method, HasPosterior):
        low, high = np.minimum(low, -PRIOR), np.maximum(high, PRIOR)
    return np.stack([low, high])


def sheet(x: Observations) -> str:
    """All images in one PNG, pixel for pixel."""
    pixels = (x.clamp(0, 1) * 255).round().to(torch.uint8)
    if pixels.shape[1] != 3:  # gray; for other numbers of channels, the mean
        pixels = pixels.float().mean(1, keepdim=True).round().to(torch.uint8)
    n, channels, height, width = pixels.shape
    down = -(-n // ACROSS)
    canvas = torch.zeros(down * ACROSS, channels, height, width, dtype=torch.uint8)
    canvas[:n] = pixels
    tiles = canvas.view(down, ACROSS, channels, height, width).permute(0, 3, 1, 4, 2)
    pixels_of_sheet = tiles.reshape(down * height, ACROSS * width, channels).numpy()
    file = io.BytesIO()
    Image.fromarray(pixels_of_sheet[..., 0] if channels == 1 else pixels_of_sheet).save(
        file, "PNG", optimize=True
    )
    return uri(file.getvalue(), "image/png")


def _activity(model: Model, examples: Examples) -> Activity:
    dim_activity = activity(model, examples.x)
    if len(dim_activity.amounts) == model.strands.size:
        return dim_activity
    return Activity(examples.codes.numpy().var(0), "variance")  # the posterior covers some dimensions only


def _matrix(run: Run, model: Model, examples: Examples, dim_activity: Activity) -> dict[str, Any] | None:
    """The matrix with its rows in the order of the sliders."""
    order = [dim for group in groups(model.strands, dim_activity) for dim in group["dims"]]
    matrix = matrix_of(run, model.strands, examples, feature_strand_names(model.method), order)
    if matrix is None:
        return None
    rows = sorted(range(len(matrix.rows)), key=lambda row: min(map(order.index, matrix.rows[row][1])))
    return matrix._asdict() | {
        "rows": [{"name": matrix.rows[row][0], "dims": list(matrix.rows[row][1])} for row in rows],
        "factors": list(matrix.factors),
        "values": np.nan_to_num(matrix.values[rows]).tolist(),
    }
