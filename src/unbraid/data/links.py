"""Whether the addresses of official files still answer."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from unbraid.data.download import DownloadError, TransferError, request
from unbraid.data.file_kind import expected_kind
from unbraid.data.manual_download import ManualDownload
from unbraid.data.registry import DATASETS, DatasetEntry, constructor, dataset_entry
from unbraid.data.remote_file import RemoteFile, RemoteFiles
from unbraid.data.size_limit import readable

SECONDS = 20.0  # without an answer
AT_ONCE = 8


class Link(NamedTuple):
    """An address and what it answers."""

    dataset: str
    file: str
    address: str
    state: str
    is_alive: bool


class _Address(NamedTuple):
    dataset: str
    file: str
    url: str
    size: int | None
    is_page: bool  # a page for people, for files that are downloaded by hand


def check_links(name: str | None = None) -> list[Link]:
    """What every address of official files answers; raises if not a single one answers.

    Args:
        name: The name of a dataset; default: every dataset.
    """
    addresses = list(_addresses(name))
    if not addresses:
        return []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(_ask, addresses))
    if all(is_unreachable for _, _, is_unreachable in answers):
        reason = answers[0][0].removeprefix("dead: it cannot be reached: ")
        raise DownloadError(
            f"None of {len(addresses)} addresses can be reached ({reason}). Check the network and try again."
        )
    return [
        Link(address.dataset, address.file, address.url, state, is_alive)
        for address, (state, is_alive, _) in zip(addresses, answers, strict=True)
    ]


def _addresses(name: str | None) -> Iterator[_Address]:
    """Every address once, with the first dataset that needs it."""
    entries: dict[str, DatasetEntry] = dict(DATASETS)
    if name is not None:
        entry = dataset_entry(name)
        if entry is None:
            constructor(name)  # raises for an unknown name
            raise ValueError(f"{name} is a path, not a name: it has no addresses.")
        entries = {name: entry}
    seen = set()
    for dataset, entry in entries.items():
        for options in [{"variant": variant} for variant in entry.variants] or [{}]:
            for address in _of_source(dataset, entry.source(**options) if entry.source else None):
                if address.url not in seen:
                    seen.add(address.url)
                    yield address


def _of_source(dataset: str, source: RemoteFile | RemoteFiles | ManualDownload | None) -> Iterator[_Address]:
    if isinstance(source, ManualDownload):
        yield _Address(dataset, f"{source.folder}/ (by hand)", source.page_url.split()[0], None, True)
    elif source is not None:
        for file in source.sources if isinstance(source, RemoteFiles) else (source,):
            for url in file.urls:
                yield _Address(dataset, file.file, url, file.size, False)


def _ask(address: _Address) -> tuple[str, bool, bool]:
    """The state of an address, whether it is alive, and whether no server could be reached at all."""
    try:
        try:
            response = request(address.url, {}, method="HEAD", timeout=SECONDS)
        except TransferError as error:
            if error.is_unreachable:
                raise
            # Some servers refuse HEAD.
            response = request(address.url, {"Range": "bytes=0-0"}, timeout=SECONDS)
    except TransferError as error:
        return f"dead: {error}", False, error.is_unreachable
    with response:
        return *_state(address, response), False


def _state(address: _Address, response: Any) -> tuple[str, bool]:
    redirected = ""
    if response.geturl() != address.url:
        redirected = f", redirected to {urlsplit(response.geturl()).netloc}"
    if address.is_page:
        return f"ok{redirected}", True
    kind = response.headers.get_content_type()
    if kind == "text/html" and expected_kind(Path(address.file).name) is not None:
        return f"dead: it answers with a web page{redirected}", False
    size = _size(response)
    if None not in (size, address.size) and size != address.size:
        return f"changed: {size:,} bytes, published {address.size:,}{redirected}", False
    return f"ok, {'unknown size' if size is None else readable(size)}{redirected}", True


def _size(response: Any) -> int | None:
    """The size of the whole file that the answer announces."""
    part = re.fullmatch(r"bytes .*/(\d+)", response.headers.get("Content-Range", ""))
    length = part[1] if part else response.headers.get("Content-Length", "")
    is_encoded = response.headers.get("Content-Encoding", "identity") != "identity"
    return int(length) if length.isdigit() and not is_encoded else None
