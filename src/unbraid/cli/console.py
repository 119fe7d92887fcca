"""Options that several commands share, and how commands print."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

DATA_ROOT_HELP = (
    "Folder with the official dataset files. Default: $UNBRAID_DATA if set, otherwise ~/.cache/unbraid."
)
DEVICE_HELP = "Device: auto, cpu, cuda, cuda:N or mps."
JSON_HELP = "Print one JSON value and nothing else."

AsJSON = Annotated[bool, typer.Option("--json", help=JSON_HELP)]
DataRoot = Annotated[Path | None, typer.Option(help=DATA_ROOT_HELP)]
Device = Annotated[str, typer.Option(help=DEVICE_HELP)]
EvaluationSeed = Annotated[int, typer.Option(help="Random seed for sampling and stochastic metrics.")]
ProtocolName = Annotated[
    str,
    typer.Option(
        help="Protocol (sample sizes and variants of the metrics): disentanglement_lib, infogan_cr or fast."
    ),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]


def print_json(value: Any) -> None:
    """Prints one JSON value; a number that JSON lacks, such as the mean of no differences, is null."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    """The value with null for NaN and infinite numbers."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_scores(scores: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Prints one line per score, or all scores as JSON."""
    if as_json:
        print_json(scores)
        return
    width = max([30, *(len(entry["metric"]) for entry in scores)])
    for entry in scores:
        protocol = f", {entry['protocol']}" if entry["protocol"] else ""
        tested = f", tested on {entry['n_test']}" if entry["n_test"] else ""
        sizes = f"n={entry['n']}{tested}{protocol}, {entry['seconds']} s"
        print(f"{entry['metric']:<{width}} {entry['value']:.4f}  ({sizes})")


def printable(text: str) -> str:
    """The text on one line: control characters escaped, so that a name cannot change the terminal, and words cut."""
    escaped = "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text
    )
    return re.sub(r"\S{300,}", lambda word: f"{word[0][:200]}…{word[0][-50:]}", escaped)


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
