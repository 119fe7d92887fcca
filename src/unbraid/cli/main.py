"""The command line: `unbraid …`. Commands import heavy packages where they use them, so that `--help` is fast."""

import os
import re
import sys
import warnings
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from unbraid.cli.compare import compare
from unbraid.cli.console import printable
from unbraid.cli.data import check, download
from unbraid.cli.demo import demo
from unbraid.cli.edit import edit
from unbraid.cli.encode import encode
from unbraid.cli.evaluate import evaluate
from unbraid.cli.explore import explore
from unbraid.cli.export import export
from unbraid.cli.list import list_names
from unbraid.cli.report import report
from unbraid.cli.score import score
from unbraid.cli.select import select
from unbraid.cli.spelling import Command, Group, printable_usage
from unbraid.cli.study import study
from unbraid.cli.train import MethodCommands
from unbraid.progress import STOPPED, STOPPING, signal_number, signals_handled, stop_command


class MainGroup(TyperGroup):
    """The commands in the order of a first use: train, evaluate, look."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        with printable_usage():
            return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; SIGINT, SIGTERM and SIGHUP end it with one sentence, and exit code 130, 143 or 129."""
        try:
            with signals_handled(STOPPING, stop_command):
                return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            print(f"unbraid: {str(interrupt) or STOPPED}", file=sys.stderr)
            raise typer.Exit(128 + signal_number(interrupt)) from None


FIRST = ("demo", "list", "train", "evaluate", "report", "explore", "study", "compare", "select")
app = typer.Typer(
    cls=MainGroup,
    help="Train, evaluate and inspect disentangled representations.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data_app = typer.Typer(cls=Group, help="Check or download the files of a dataset.", no_args_is_help=True)
data_app.command("check", cls=Command)(check)
data_app.command("download", cls=Command)(download)
app.add_typer(data_app, name="data")
app.add_typer(
    typer.Typer(
        cls=MethodCommands,
        help="Train a method on a dataset. `unbraid train METHOD --data NAME --help` lists all options.",
        no_args_is_help=True,
        subcommand_metavar="METHOD",
    ),
    name="train",
)
app.command("list", cls=Command)(list_names)
app.command("evaluate", cls=Command, context_settings={"ignore_unknown_options": True})(evaluate)
for command in (score, study, encode, edit, report, export, explore, compare, select, demo):
    app.command(cls=Command, short_help=command.__doc__)(command)


def print_version(asked: bool | None) -> None:
    """Prints the version and ends the command."""
    if asked:
        from unbraid import __version__

        print(f"unbraid {__version__}")
        raise typer.Exit


@app.callback()
def unbraid(
    version: Annotated[
        bool | None,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=print_version),
    ] = None,
) -> None:
    """Train, evaluate and inspect disentangled representations."""


def use_utf8() -> None:
    """Makes standard output and error UTF-8 in every locale; what is no Unicode in a file name is printed escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def show_warning(message: Warning | str, category: type[Warning], *position: Any, **options: Any) -> None:
    """Prints a warning for users as one sentence, without its position in the code."""
    if category is UserWarning:
        print(f"unbraid: {message}", file=sys.stderr)
    else:
        print(warnings.formatwarning(message, category, *position[:2]), end="", file=sys.stderr)


def main() -> None:
    """Runs the command line; invalid input ends it with one sentence and exit code 2."""
    use_utf8()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            app()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except UnicodeEncodeError as error:  # of the name of a file or folder
        print(
            f"unbraid: {error.object!r:.200} has characters that {error.encoding} cannot encode. Rename the file or "
            "folder, or choose a UTF-8 locale.",
            file=sys.stderr,
        )
        sys.exit(2)
    except (ValueError, OSError, FloatingPointError) as error:
        print(f"unbraid: {printable(_sentence(error))}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        if os.environ.get("UNBRAID_DEBUG"):
            raise
        kind, text = type(error).__name__, printable(str(error).partition("\n")[0])
        if isinstance(error, MemoryError) or OUT_OF_MEMORY.search(text):
            print(f"unbraid: {TOO_LARGE} ({text or kind}).", file=sys.stderr)
            sys.exit(2)
        print(f"unbraid: Internal error in Unbraid, please report it ({kind}: {text}).", file=sys.stderr)
        print("Set UNBRAID_DEBUG=1 for the traceback.", file=sys.stderr)
        sys.exit(1)


OUT_OF_MEMORY = re.compile(  # what torch and NumPy say
    "out of memory|t allocate memory|size calculation overflowed|integer multiplication overflow"
    "|Overflow when unpacking|too large to convert"
)
TOO_LARGE = (
    "There is not enough memory. Lower the sizes that you have set, such as --batch-size, --latent-dim, --image-size "
    "or --num-samples"
)


def _sentence(error: Exception) -> str:
    """The message of an error; one that the system has raised names the file and what to do."""
    if not isinstance(error, OSError) or error.strerror is None or error.filename is None:
        return str(error)
    return (
        f"{error.filename} cannot be read or written ({error.strerror}). Check the path, its permissions and the space "
        "on its disk."
    )
