"""The official files of a dataset: checked, or downloaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.data.manual_download import ManualDownload
from unbraid.data.registry import (
    checked_constructor,
    constructor,
    dataset_entry,
    open_dataset,
    with_sources,
)
from unbraid.data.remote_file import RemoteFile, RemoteFiles


def check_dataset(name_or_path: str, root: Path | str | None = None, **options: Any) -> str:
    """Describes in one line a dataset whose files are present and intact; raises otherwise."""
    options = with_sources(checked_constructor(name_or_path, options), options, root)
    source, entry = _source(name_or_path, options), dataset_entry(name_or_path)
    fallback = "" if entry is None else entry.fallback
    evidence = "" if source is None else source.verify(source.require(root))
    dataset = open_dataset(name_or_path, root=root, **options)
    kind = "images" if dataset.images else "rows"
    size = "×".join(map(str, dataset.shape))
    if source is not None:
        location = f" in {source.path(root)}"
    else:
        origin = fallback or "generated"
        location = "" if entry is None else f", {origin}: no files are needed"
    checked = f" Checked: {evidence}." if evidence else ""
    license = f" License: {dataset.license}." if dataset.license else ""
    return f"{dataset.name} is complete: {len(dataset)} {kind} of {size}{location}.{checked}{license}"


def download_dataset(name: str, root: Path | str | None = None, **options: Any) -> Path | None:
    """Downloads the official files of a dataset unless they are present, and verifies them.

    Returns their path, or None for a generated dataset, which needs no files.
    """
    if dataset_entry(name) is None:
        constructor(name)
        raise ValueError(f"{name} is a path, not a name: there is nothing to download.")
    source = _source(name, options)
    if source is None:
        return None
    path = source.fetch(root)
    if not source.is_certain:  # opening the dataset checks the content
        open_dataset(name, root=root, **options)
    return path


def _source(name: str, options: Mapping[str, Any]) -> RemoteFile | RemoteFiles | ManualDownload | None:
    checked_constructor(name, options)
    entry = dataset_entry(name)
    return None if entry is None or entry.source is None else entry.source(**options)
