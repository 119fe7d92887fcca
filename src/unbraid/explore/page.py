"""The explorer: one HTML page to play with one trained model, with everything it needs inside."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import torch

from unbraid.data.dataset import Dataset
from unbraid.explore.content import content_of
from unbraid.explore.examples import Examples, drawn, made
from unbraid.explore.packing import packed, rounded
from unbraid.explore.program import GIVEN, Program
from unbraid.explore.trace import trace
from unbraid.methods.base import Method
from unbraid.model import Model, load
from unbraid.reopen import dataset_of
from unbraid.runs import Run, write_atomically

MOST_BYTES = 8_000_000  # of a page
LEAST = 2 * 4 / 3  # bytes that a weight takes, sixteen bits in base64
CLOSE = 0.25 / 255  # how far sixteen bits may take a pixel from what PyTorch decodes
CHECKED = 24  # codes on which that is checked
SCRIPTS = tuple(  # in this order; the first is the worker's too
    f"{name}.js"
    for name in (
        *("decoder", "strands", "client", "views", "state"),
        *("images", "sliders", "sweep", "knowledge", "explorer"),
    )
)


def write_explorer(
    run: Run | Path | str,
    out: Path | str | None = None,
    *,
    examples: int = 36,
    dataset: Dataset | None = None,
    root: Path | str | None = None,
    limit: int = MOST_BYTES,
) -> Path:
    """Writes one self-contained HTML page on which to play with a trained model.

    Args:
        run: A finished run.
        out: The HTML file; `explorer.html` in the run's folder by default.
        examples: How many observations to offer as a start.
        dataset: Where they come from; the run's own dataset by default.
        root: The data root, for runs on official files.
        limit: The most bytes that the page may have.
    """
    opened = run if isinstance(run, Run) else Run(run)
    content, model, found = explored(opened, examples=examples, dataset=dataset, root=root)
    program = program_of(model, found)
    if program is not None:
        _require_room(opened, LEAST * sum(value.numel() for value in program.constants.values()), limit)
        exact = not close_enough(model, program, found)
        content["program"] = {
            "inputs": program.inputs,
            "constants": packed(program.constants, exact=exact),
            "steps": [step._asdict() for step in program.steps],
            "output": program.output,
        }
    page = render(content).encode()
    _require_room(opened, len(page), limit)
    path = opened.folder / "explorer.html" if out is None else Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page)
    return path


def _require_room(run: Run, size: int | float, limit: int) -> None:
    if size > limit:
        raise ValueError(
            f"The page of {run.folder} would have {size / 1e6:.1f} MB, more than the {limit / 1e6:g} MB allowed: use "
            "--serve, which decodes in Python, or allow more by --limit."
        )


def explored(
    run: Run, *, examples: int, dataset: Dataset | None, root: Path | str | None
) -> tuple[dict[str, Any], Model, Examples]:
    """What a page shows of a run, its model, and the observations to start from."""
    if not run.finished:
        raise ValueError(f"{run.folder} is unfinished: train it to its end with --resume, then explore it.")
    if not 2 <= examples <= 128:
        raise ValueError(f"A page offers 2 to 128 examples; got {examples}.")
    model, note = load(run.folder, device="cpu"), ""
    try:
        opened = dataset_of(run, root) if dataset is None else dataset
    except (ValueError, OSError) as error:
        if not decodes(model):
            raise ValueError(
                f"{run.folder} cannot be explored: it has no decoder, and no examples to compare. {error}"
            ) from None
        found, note = made(model), f"The examples were made by the model, from codes drawn at random. {error}"
    else:
        found = drawn(model, opened)
    return content_of(run, model, found, shown=examples, note=note), model, found


def decodes(model: Model) -> bool:
    return type(model.method).decode is not Method.decode


def program_of(model: Model, found: Examples) -> Program | None:
    """The decoder in steps; None for a model without one."""
    if not decodes(model):
        return None
    return trace(
        model.method, found.given[:1] if found.given is not None and model.method.conditional else None
    )


@torch.no_grad()
def close_enough(model: Model, program: Program, found: Examples) -> bool:
    """Whether sixteen bits for each weight give what PyTorch decodes; raises where the steps themselves do not."""
    short = program._replace(constants=rounded(program.constants))
    noise = torch.randn(CHECKED, found.codes.shape[1], generator=torch.Generator().manual_seed(0))
    noise[::2] = 0  # every other code is an example's own
    unit = 1.0 if len(model.shape) == 3 else max(float(found.x.std()), 1e-9)
    off = off_short = 0.0
    for row, codes in enumerate((found.codes[:CHECKED] + found.codes.std(0) * noise).split(1)):
        given = found.given[row : row + 1] if GIVEN in program.inputs and found.given is not None else None
        right = model.method.decode(codes, given)
        off = max(off, float((program.run(codes, given) - right).abs().max()) / unit)
        off_short = max(off_short, float((short.run(codes, given) - right).abs().max()) / unit)
    if not off <= CLOSE:
        raise ValueError(
            f"The page would not decode as PyTorch does, it is off by {off:.2g}: use --serve, which decodes in Python."
        )
    return off_short <= CLOSE


def render(content: dict[str, Any], *, served: bool = False) -> str:
    """The page as text. Its policy allows the page's own scripts and styles, by their hashes, and no request but, where
    it is served, to its own server."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    here = Path(__file__).parent
    scripts = [(here / name).read_text("utf-8") for name in SCRIPTS]
    styles = here.parent / "report" / "page.css", here / "explorer.css"
    style = "".join(path.read_text("utf-8") for path in styles)
    policy = "; ".join(
        [
            "default-src 'none'",
            "script-src " + " ".join(map(_hash, scripts)),
            f"style-src {_hash(style)}",
            "img-src data:",
            "worker-src blob:",
            "connect-src 'self'" if served else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    environment = Environment(loader=FileSystemLoader(here), autoescape=True, undefined=StrictUndefined)
    template = environment.get_template("explorer.html")
    return template.render(
        title=content["title"],
        policy=policy,
        style=_markup(style),
        scripts=list(map(_markup, scripts)),
        content=_markup(as_data(content | {"served": served})),
    )


def as_data(content: Any) -> str:
    """JSON that no text within can break out of: it holds none of the signs that HTML or JavaScript would read."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)
