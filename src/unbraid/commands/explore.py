"""`unbraid explore`: a page to play with a trained model."""

import sys
import webbrowser
from pathlib import Path

MEGABYTE = 1_000_000


def explore_run(
    folder: Path,
    out: Path | None,
    *,
    examples: int,
    limit: float,
    root: Path | None,
    show: bool,
) -> Path:
    """Writes the page of a run, and opens it in the browser if it is to be shown."""
    from unbraid.explore import write_explorer

    if not limit > 0:
        raise ValueError(f"A page needs a limit above 0 MB; got {limit:g}.")
    path = write_explorer(folder, out, examples=examples, root=root, limit=round(limit * MEGABYTE))
    if show:
        webbrowser.open(path.resolve().as_uri())
    return path


def serve_run(
    folder: Path,
    *,
    host: str,
    port: int,
    anywhere: bool,
    examples: int,
    root: Path | None,
    show: bool,
) -> None:
    """Serves the page of a run until it is interrupted."""
    from unbraid.explore.server import serve_explorer

    def ready(address: str) -> None:
        print(f"The explorer is at {address}; Ctrl-C ends it.", file=sys.stderr, flush=True)
        if show:
            webbrowser.open(address)

    serve_explorer(folder, host=host, port=port, anywhere=anywhere, examples=examples, root=root, ready=ready)
