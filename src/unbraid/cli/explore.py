"""`unbraid explore`."""

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from unbraid.cli.console import AsJSON, DataRoot, RunFolder, print_json
from unbraid.cli.custom_code import takes_custom_code
from unbraid.cli.output import PAGES, out_file

LOCALHOST = "127.0.0.1"
MEGABYTE = 1_000_000


@takes_custom_code("method", "data", "architecture")
def explore(
    run: RunFolder,
    out: Annotated[
        Path | None,
        out_file(*PAGES, help="The HTML file to write. Default: explorer.html in the run folder."),
    ] = None,
    examples: Annotated[int, typer.Option(help="Number of example observations.", metavar="N")] = 36,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
    max_size_mb: Annotated[float, typer.Option(help="Maximum page size in MB.", metavar="MB")] = 8.0,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page and decode in Python, for large models.")
    ] = False,
    port: Annotated[int, typer.Option(help="With --serve: port (0: any free port).")] = 0,
    host: Annotated[str, typer.Option(help="With --serve: address to listen on.")] = LOCALHOST,
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote", help="With --serve: allow connections from other machines (no password)."
        ),
    ] = False,
    data_root: DataRoot = None,
    as_json: AsJSON = False,
) -> None:
    """Write an interactive HTML page for a trained model and open it."""
    open_browser = open_ and not as_json
    if serve:
        if out is not None or as_json:
            raise ValueError("--serve writes no file: leave out --out and --json.")
        serve_run(
            run,
            host=host,
            port=port,
            allow_remote=allow_remote,
            examples=examples,
            root=data_root,
            open_browser=open_browser,
        )
        return
    if allow_remote or port or host != LOCALHOST:
        raise ValueError(
            "--host, --port and --allow-remote are options of --serve: add it, or leave them out."
        )
    path = explore_run(
        run, out, examples=examples, max_size_mb=max_size_mb, root=data_root, open_browser=open_browser
    )
    print_json({"out": str(path)}) if as_json else print(f"Written to {path}.")


def explore_run(
    folder: Path,
    out: Path | None,
    *,
    examples: int,
    max_size_mb: float,
    root: Path | None,
    open_browser: bool,
) -> Path:
    """Writes the explorer of a run and optionally opens it in the browser."""
    from unbraid.explore import write_explorer

    if not max_size_mb > 0:
        raise ValueError(f"--max-size-mb must be above 0; got {max_size_mb:g}.")
    path = write_explorer(folder, out, examples=examples, root=root, max_bytes=round(max_size_mb * MEGABYTE))
    if open_browser:
        webbrowser.open(path.resolve().as_uri())
    return path


def serve_run(
    folder: Path,
    *,
    host: str,
    port: int,
    allow_remote: bool,
    examples: int,
    root: Path | None,
    open_browser: bool,
) -> None:
    """Serves the explorer of a run until Ctrl-C."""
    from unbraid.explore import serve_explorer

    def print_and_open(address: str) -> None:
        print(f"The explorer is at {address}. Press Ctrl-C to stop.", file=sys.stderr, flush=True)
        if open_browser:
            webbrowser.open(address)

    serve_explorer(
        folder,
        host=host,
        port=port,
        allow_remote=allow_remote,
        examples=examples,
        root=root,
        on_ready=print_and_open,
    )
