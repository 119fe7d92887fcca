"""`unbraid export`: a trained model in a form that other tools read, checked before it is left."""

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from unbraid.export import onnx, torchscript, weights
from unbraid.export.card import card, front_matter
from unbraid.export.check import check
from unbraid.export.description import describe_export
from unbraid.export.package import Package, Reader, columns_of
from unbraid.export.snippets import hub_snippet, onnx_snippet, torchscript_snippet, weights_snippet
from unbraid.methods.base import Method
from unbraid.model import load
from unbraid.naming import choose
from unbraid.runs import Run, write_atomically, write_json


class Format(NamedTuple):
    """One form of export."""

    write: Callable[[Package, Path], None]
    read: Callable[[Package, Path], Reader]
    snippet: Callable[[Mapping[str, Any]], str]  # Python that uses the files, by their description
    require: Callable[[], None] = lambda: None  # raises where something is not installed
    for_hub: bool = False


FORMATS = {
    "onnx": Format(onnx.write, onnx.read, onnx_snippet, onnx.require),
    "torchscript": Format(torchscript.write, torchscript.read, torchscript_snippet),
    "safetensors": Format(weights.write, weights.read, weights_snippet),
    "huggingface": Format(weights.write, weights.read, hub_snippet, for_hub=True),
}
FILES = (  # that some format writes
    *("config.json", "README.md", "encoder.onnx", "decoder.onnx", "encoder.pt", "decoder.pt"),
    "model.safetensors",
)


class Export(NamedTuple):
    """What was written."""

    folder: Path
    to: str
    files: tuple[str, ...]
    difference: float  # the largest one from the original


def export(
    folder: Path | str,
    to: str = "onnx",
    out: Path | str | None = None,
    *,
    which: str = "model",
    root: Path | str | None = None,
    method: type[Method] | None = None,
    **networks: torch.nn.Module,
) -> Export:
    """Writes the encoder of a run, and its decoder where it has one, with a model card.

    The files are read back and compared with the run's model first; files that differ are not left.

    Args:
        folder: The run folder.
        to: onnx, torchscript, safetensors or huggingface.
        out: The folder to write; `export-FORMAT` in the run folder by default.
        which: The weights: `model`, or `best` by the validation split.
        root: The data root of official files, where the data is a table with means and spreads of its own.
        method: The class, when the run trained a method from outside the package.
        **networks: Networks from outside the package, under their argument's name.
    """
    form = choose("format", to, FORMATS)
    form.require()
    run = Run(folder)
    own = networks | ({} if method is None else {"method": method})
    model = load(folder, weights=which, device="cpu", **own)  # type: ignore[arg-type]
    model.method.requires_grad_(False)
    package = Package(model, run, columns_of(run, root), own)
    place = run.folder / f"export-{to}" if out is None else Path(out)
    _check_free(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as temporary:
        difference = _fill(package, form, to, Path(temporary))
        files = _move(Path(temporary), place)
    return Export(place, to, files, difference)


def _fill(package: Package, form: Format, to: str, folder: Path) -> float:
    """Writes all files, and returns how far they are from the original."""
    described = describe_export(package, to)
    write_json(folder / "config.json", described)
    form.write(package, folder)
    difference = check(package, form.read(package, folder))
    text = card(package, described, form.snippet(described), difference=difference)
    heading = front_matter(described) if form.for_hub else ""
    write_atomically(folder / "README.md", (heading + text).encode())
    return difference


def _check_free(place: Path) -> None:
    """Raises where something else lies; an earlier export is written over."""
    if place.exists() and not place.is_dir():
        raise ValueError(f"{place} is a file: choose a folder for the export.")
    if place.exists() and any(place.iterdir()) and not _is_export(place):
        raise ValueError(f"{place} holds other files and no export: choose an empty or a new folder.")


def _is_export(place: Path) -> bool:
    try:
        return json.loads((place / "config.json").read_text()).get("library") == "unbraid"
    except (OSError, ValueError, AttributeError):
        return False


def _move(temporary: Path, place: Path) -> tuple[str, ...]:
    """Puts the files in their place, and what an earlier export left there away."""
    files = sorted(path.name for path in temporary.iterdir())
    place.mkdir(exist_ok=True)
    for name in FILES:
        (place / name).unlink(missing_ok=True)
    for name in files:
        shutil.move(temporary / name, place / name)
    return tuple(files)
