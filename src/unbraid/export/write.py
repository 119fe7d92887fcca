"""Export of a trained model: the files are written, loaded again, and compared with the model."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch

from unbraid.export import onnx, torchscript, weights
from unbraid.export.bundle import ExportBundle, Reader
from unbraid.export.card import card, front_matter
from unbraid.export.check import check
from unbraid.export.description import describe_export
from unbraid.export.snippets import hub_snippet, onnx_snippet, torchscript_snippet, weights_snippet
from unbraid.files import (
    PART,
    PARTIAL,
    locked,
    read_json,
    remove_partial_files,
    sha256_of,
    write_atomically,
    write_json,
)
from unbraid.methods import Method
from unbraid.runs import Run, load
from unbraid.settings import lookup


class Format(NamedTuple):
    """One export format."""

    write: Callable[[ExportBundle, Path], None]
    read: Callable[[ExportBundle, Path], Reader]
    snippet: Callable[[Mapping[str, Any]], str]  # Python that uses the files, from their description
    require: Callable[[], None] = lambda: None  # raises if a package is missing
    for_hub: bool = False


FORMATS = {
    "onnx": Format(onnx.write, onnx.read, onnx_snippet, onnx.require),
    "torchscript": Format(torchscript.write, torchscript.read, torchscript_snippet),
    "safetensors": Format(weights.write, weights.read, weights_snippet),
    "huggingface": Format(weights.write, weights.read, hub_snippet, for_hub=True),
}
DESCRIPTION = "config.json"
FILES = (  # names of all files that the formats write
    *(DESCRIPTION, "README.md", "encoder.onnx", "decoder.onnx", "encoder.pt", "decoder.pt"),
    "model.safetensors",
)


class Export(NamedTuple):
    """The result of an export."""

    folder: Path
    format: str
    files: tuple[str, ...]
    difference: float  # largest difference from the model


def export(
    folder: Path | str,
    format: str = "onnx",
    out: Path | str | None = None,
    *,
    weights: str = "last",
    method: type[Method] | None = None,
    **networks: torch.nn.Module,
) -> Export:
    """Exports the encoder of a run, and its decoder if it has one, with a model card.

    The files are loaded again and compared with the model; files that differ are deleted.

    Args:
        folder: Run folder.
        format: Format: onnx, torchscript, safetensors or huggingface.
        out: Folder to write. Default: export-FORMAT in the run folder.
        weights: Weights: last, or best (lowest validation loss).
        method: Class of the method, if the run trained a custom method.
        **networks: Custom networks by argument name: `encoder=MyEncoder()`.
    """
    lookup("format", format, FORMATS).require()
    run = Run(folder)
    custom_networks = networks | ({} if method is None else {"method": method})
    model = load(folder, weights=weights, device="cpu", **custom_networks)  # type: ignore[arg-type]
    model.method.requires_grad_(False)
    bundle = ExportBundle(model, run, custom_networks)
    path = run.folder / f"export-{format}" if out is None else Path(out)
    _require_overwritable(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _only_export(path), _temporary_folder(path) as temporary:
        difference = _write_and_check(bundle, format, temporary)
        files = _publish(temporary, path)
    return Export(path, format, files, difference)


@contextmanager
def _only_export(path: Path) -> Iterator[None]:
    """Keeps other exports out of the folder, so that the files of two models are never mixed."""
    lock_file = path.parent / f".{path.name}.lock"
    message = f"Another process is exporting to {path}. Wait until it has ended, or choose another folder."
    with locked(lock_file, message=message):
        try:
            yield
        finally:
            with suppress(OSError):  # Windows keeps open files
                lock_file.unlink(missing_ok=True)


@contextmanager
def _temporary_folder(path: Path) -> Iterator[Path]:
    """A hidden folder beside the export, always of one name: the next export deletes what a killed one has left."""
    temporary = path.parent / f".{path.name}{PART}"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write_and_check(bundle: ExportBundle, format: str, folder: Path) -> float:
    """Writes all files and returns their largest difference from the model."""
    export_format = FORMATS[format]
    export_format.write(bundle, folder)
    hashes = {path.name: sha256_of(path) for path in sorted(folder.iterdir())}
    description = describe_export(bundle, format) | {"sha256": hashes}
    write_json(folder / DESCRIPTION, description)
    difference = check(bundle, export_format.read(bundle, folder))
    card_text = card(bundle, description, export_format.snippet(description), difference=difference)
    heading = front_matter(description) if export_format.for_hub else ""
    write_atomically(folder / "README.md", (heading + card_text).encode("utf-8", "backslashreplace"))
    return difference


def _require_overwritable(path: Path) -> None:
    """Raises unless the folder is missing, empty or an earlier export, which is overwritten.

    What an export that was killed has left half-written counts as empty.
    """
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file. Choose a folder for the export.")
    if path.exists() and not all(child.match(PARTIAL) for child in path.iterdir()) and not _is_export(path):
        raise ValueError(f"{path} is not empty and is not an export. Choose a new or empty folder.")


def _is_export(path: Path) -> bool:
    try:
        return read_json(path / DESCRIPTION, {"library": str})["library"] == "unbraid"
    except (OSError, ValueError):
        return False


def _publish(temporary: Path, target: Path) -> tuple[str, ...]:
    """Copies the files into the target folder, where they replace an earlier export.

    Until all are there, config.json says that the export is incomplete: an interrupted export is never loaded, and the
    next one replaces it.
    """
    files = sorted(path.name for path in temporary.iterdir())
    target.mkdir(exist_ok=True)
    remove_partial_files(target)
    write_json(target / DESCRIPTION, {"library": "unbraid", "incomplete": True})
    for name in {*FILES} - {*files}:
        (target / name).unlink(missing_ok=True)
    for name in sorted(files, key=DESCRIPTION.__eq__):  # the description last
        write_atomically(target / name, (temporary / name).read_bytes())
    return tuple(files)
