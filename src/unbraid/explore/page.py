"""The explorer: one self-contained interactive HTML page for a trained model."""

import base64
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from unbraid.custom_code import CodeNotNamed
from unbraid.data import Dataset
from unbraid.explore.content import content_of
from unbraid.explore.examples import Examples, examples_from_data, examples_from_prior
from unbraid.explore.packing import pack_constants, round_to_int16
from unbraid.explore.program import CONDITION, Program
from unbraid.explore.trace import trace
from unbraid.files import write_atomically
from unbraid.methods import has_decoder
from unbraid.runs import Model, Run, load, standardized_for, training_dataset

MAX_BYTES = 8_000_000  # of a page
BYTES_PER_WEIGHT = 2 * 4 / 3  # int16 in base64, the least
TOLERANCE = 0.25 / 255  # largest difference of a pixel from PyTorch
CHECKED_CODES = 24
SCRIPTS = tuple(  # in this order; the worker runs the first one
    f"{name}.js"
    for name in (
        *("decoder", "strands", "client", "views", "state"),
        *("images", "sliders", "traversal", "importance", "explorer"),
    )
)


def write_explorer(
    run: Run | Path | str,
    out: Path | str | None = None,
    *,
    examples: int = 36,
    dataset: Dataset | None = None,
    root: Path | str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Path:
    """Writes a self-contained interactive HTML page for a trained model.

    Args:
        run: A finished run.
        out: HTML file. Default: `explorer.html` in the run folder.
        examples: Number of example observations, 2 to 128.
        dataset: Source of the examples. Default: the training dataset.
        root: Data root, for runs on official files.
        max_bytes: Maximum size of the page in bytes.
    """
    opened = run if isinstance(run, Run) else Run(run)
    content, model, sampled = load_page_inputs(opened, examples=examples, dataset=dataset, root=root)
    program = program_of(model, sampled)
    if program is not None:
        _check_size(
            opened, BYTES_PER_WEIGHT * sum(value.numel() for value in program.constants.values()), max_bytes
        )
        exact = not reduced_precision_suffices(model, program, sampled)
        content["program"] = {
            "inputs": program.inputs,
            "constants": pack_constants(program.constants, exact=exact),
            "steps": [step._asdict() for step in program.steps],
            "output": program.output,
        }
    page = render(content).encode()
    _check_size(opened, len(page), max_bytes)
    path = opened.folder / "explorer.html" if out is None else Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page)
    return path


def _check_size(run: Run, size: int | float, max_bytes: int) -> None:
    if size > max_bytes:
        raise ValueError(
            f"The page of {run.folder} would have {size / 1e6:.1f} MB, more than the {max_bytes / 1e6:g} MB allowed. "
            "Use --serve, which decodes in Python, or raise --max-size-mb."
        )


def load_page_inputs(
    run: Run, *, examples: int, dataset: Dataset | None, root: Path | str | None
) -> tuple[dict[str, Any], Model, Examples]:
    """The content of a page, the model, and the examples."""
    if not run.finished:
        raise ValueError(
            f"{run.folder} is unfinished. Continue its training with --resume before exploring the run."
        )
    if not 2 <= examples <= 128:
        raise ValueError(f"examples must be from 2 to 128; got {examples}.")
    loaded, note = load(run.folder, device="cpu"), ""
    model = (
        loaded.without_columns()
    )  # the page decodes standardized rows, and shows them in the units of their table
    try:
        opened = training_dataset(run, root) if dataset is None else standardized_for(run, dataset)
    except CodeNotNamed:
        raise
    except (ValueError, OSError) as error:
        if not decodes(model):
            raise ValueError(
                f"{run.folder} cannot be explored, because it has no decoder and its dataset cannot be opened. {error}"
            ) from None
        sampled, note = (
            examples_from_prior(model),
            f"The examples were decoded from samples of the prior. {error}",
        )
    else:
        sampled = examples_from_data(model, opened)
    columns = None if loaded.columns is None else loaded.columns.to_json()
    return content_of(run, model, sampled, shown=examples, note=note) | {"columns": columns}, model, sampled


def decodes(model: Model) -> bool:
    return has_decoder(model.method)


def program_of(model: Model, examples: Examples) -> Program | None:
    """The decoder as a program; None without a decoder."""
    if not decodes(model):
        return None
    return trace(
        model.method,
        examples.condition[:1]
        if examples.condition is not None and model.method.conditions_on == "nuisances"
        else None,
    )


@torch.no_grad()
def reduced_precision_suffices(model: Model, program: Program, examples: Examples) -> bool:
    """Whether int16 weights decode as PyTorch does, within TOLERANCE.

    Raises:
        ValueError: The program itself does not decode as PyTorch does.
    """
    short = program._replace(constants=round_to_int16(program.constants))
    noise = torch.randn(CHECKED_CODES, examples.codes.shape[1], generator=torch.Generator().manual_seed(0))
    noise[::2] = 0  # every other code is that of an example
    unit = 1.0 if len(model.shape) == 3 else max(float(examples.x.std()), 1e-9)
    conditional = CONDITION in program.inputs and examples.condition is not None
    error = rounded_error = 0.0
    for row, codes in enumerate((examples.codes[:CHECKED_CODES] + examples.codes.std(0) * noise).split(1)):
        condition = examples.condition[row : row + 1] if conditional else None  # type: ignore[index]
        expected = model.method.decode(codes, condition)
        error = max(error, float((program.run(codes, condition) - expected).abs().max()) / unit)
        rounded_error = max(rounded_error, float((short.run(codes, condition) - expected).abs().max()) / unit)
    if not error <= TOLERANCE:
        raise ValueError(
            f"The page would not decode as PyTorch does (error {error:.2g}). Use --serve, which decodes in Python."
        )
    return rounded_error <= TOLERANCE


def render(content: dict[str, Any], *, served: bool = False) -> str:
    """The page as text.

    The content security policy allows only the scripts and styles of the page, by hash, and no requests except to the
    server of a served page.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    here = Path(__file__).parent
    scripts = [(here / name).read_text(encoding="utf-8") for name in SCRIPTS]
    styles = here.parent / "report" / "page.css", here / "explorer.css"
    style = "".join(path.read_text(encoding="utf-8") for path in styles)
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
        content=_markup(json_for_script_tag(content | {"served": served})),
    )


def json_for_script_tag(content: Any) -> str:
    """JSON without characters that could end a script element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def write_explorers(runs: Sequence[Run], root: Path | str | None = None) -> None:
    """Writes an explorer into each run folder; prints the reason for runs that cannot have one."""
    for run in runs:
        try:
            write_explorer(run, root=root)
        except (ValueError, OSError) as error:  # too large, or nothing to show
            print(f"{run.folder.name} has no explorer: {error}", file=sys.stderr)
