"""Everything that an explorer page shows of one run, as plain data."""

import io
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image

from unbraid.explore.examples import POOL, Examples, class_averages
from unbraid.explore.matrices import matrix_of
from unbraid.explore.packing import floats, table
from unbraid.model import Model
from unbraid.report.figures import Activity, activity
from unbraid.report.rendering import uri
from unbraid.report.scores import score_rows
from unbraid.report.subjects import about
from unbraid.runs import Run
from unbraid.strands import Strands
from unbraid.types import Observations

ACROSS = 16  # observations in a row of the sheet
MOST_VALUES = 64  # of a factor whose classes can be averaged over
PRIOR = 3.0  # a slider reaches this far where codes have a standard normal prior


def content_of(run: Run, model: Model, examples: Examples, *, shown: int, note: str = "") -> dict[str, Any]:
    """What the page shows; all but the decoder.

    Args:
        run: Where names, scores and settings come from.
        model: The run's model.
        examples: Observations; ranges and averages are taken from all of them.
        shown: How many of them are offered to start from; some more are searched for neighbours.
        note: A sentence about where they come from, where that is not the run's own data.
    """
    method, citation, sentence = about(run)
    pool = min(len(examples.x), POOL * shown)
    busy = _activity(model, examples)
    return {
        "title": f"{method.partition(':')[0]} on {run.data_name}",
        "method": run.method_name,
        "citation": citation,
        "sentence": sentence,
        "run": run.identity,
        "note": note,
        "shape": list(model.shape),
        "strands": [{"name": name, "codes": list(codes)} for name, codes in model.strands.items()],
        "groups": groups(model.strands, busy),
        "strand": model.strands.default,
        "activity": {"amounts": floats(busy.amounts), "unit": busy.unit},
        "ranges": floats(ranges(model, examples)),
        "centre": floats(examples.codes.mean(0)),
        "spread": floats(examples.codes.std(0)),
        "examples": {
            "shown": min(shown, pool),
            "codes": table(examples.codes[:pool]),
            "given": None
            if examples.given is None or not model.method.conditional
            else floats(examples.given[:pool]),
            "rows": None if len(model.shape) == 3 else floats(examples.x[:pool]),
            "sheet": sheet(examples.x[:pool]) if len(model.shape) == 3 else None,
            "across": ACROSS,
        },
        "factors": [
            {
                "name": factor.name,
                "values": list(factor.values),
                "of": factor.of[:pool].tolist(),
                "means": floats(class_averages(examples, factor))
                if len(factor.values) <= MOST_VALUES
                else None,
            }
            for factor in examples.factors
        ],
        "label": examples.label,
        "matrix": _matrix(run, model, examples, busy),
        "scores": [
            {
                "metric": row.metric,
                "value": row.values[0],
                "meaning": row.meaning,
                "protocol": row.protocol,
                "n": row.n,
                "on": row.on,
            }
            for row in score_rows({run.method_name: run.scores()})
            if row.values[0] is not None and np.isfinite(row.values[0])
        ],
    }


def groups(strands: Strands, busy: Activity) -> list[dict[str, Any]]:
    """The codes by the smallest strand that each is in, busiest first: every code once."""
    home: dict[int, str] = {}
    for name, codes in sorted(strands.items(), key=lambda entry: -len(entry[1])):
        home |= dict.fromkeys(codes, name)
    found = []
    for name in strands:
        own = [code for code in busy.order if home.get(code) == name]
        found += [{"name": name, "codes": own}] if own else []
    loose = [code for code in busy.order if code not in home]
    return found + ([{"name": "no strand", "codes": loose}] if loose else [])


def ranges(model: Model, examples: Examples) -> Float[np.ndarray, "2 d"]:
    """From where to where each slider goes: a little beyond the examples' codes, and as far as the prior."""
    codes = examples.codes.numpy()
    low, high = codes.min(0), codes.max(0)
    beyond = np.maximum(0.1 * (high - low), 0.02 * max(float((high - low).max()), 1e-3))
    low, high = low - beyond, high + beyond
    if hasattr(model.method, "posterior"):
        low, high = np.minimum(low, -PRIOR), np.maximum(high, PRIOR)
    return np.stack([low, high])


def sheet(x: Observations) -> str:
    """Images side by side in one picture, pixel for pixel."""
    pixels = (x.clamp(0, 1) * 255).round().to(torch.uint8)
    if pixels.shape[1] != 3:  # grey; of other numbers of channels, the mean
        pixels = pixels.float().mean(1, keepdim=True).round().to(torch.uint8)
    n, channels, height, width = pixels.shape
    down = -(-n // ACROSS)
    canvas = torch.zeros(down * ACROSS, channels, height, width, dtype=torch.uint8)
    canvas[:n] = pixels
    tiles = canvas.view(down, ACROSS, channels, height, width).permute(0, 3, 1, 4, 2)
    picture = tiles.reshape(down * height, ACROSS * width, channels).numpy()
    file = io.BytesIO()
    Image.fromarray(picture[..., 0] if channels == 1 else picture).save(file, "PNG", optimize=True)
    return uri(file.getvalue(), "image/png")


def _activity(model: Model, examples: Examples) -> Activity:
    found = activity(model, examples.x)
    if len(found.amounts) == model.strands.size:
        return found
    return Activity(examples.codes.numpy().var(0), "variance")  # whose posterior is of some codes only


def _matrix(run: Run, model: Model, examples: Examples, busy: Activity) -> dict[str, Any] | None:
    """The matrix, its rows in the order of the sliders."""
    order = [code for group in groups(model.strands, busy) for code in group["codes"]]
    found = matrix_of(run, model.strands, examples, tuple(getattr(model.method, "blocks", ())), order)
    if found is None:
        return None
    places = sorted(range(len(found.rows)), key=lambda row: min(map(order.index, found.rows[row][1])))
    return found._asdict() | {
        "rows": [{"name": found.rows[row][0], "codes": list(found.rows[row][1])} for row in places],
        "factors": list(found.factors),
        "values": np.nan_to_num(found.values[places]).tolist(),
    }
