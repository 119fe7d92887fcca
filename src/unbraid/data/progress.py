"""A bar for long work on files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(text: str, total: int | None, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Shows a bar on the error stream when it is a terminal; yields a function that moves it on."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(text, total=total, completed=done)
        yield lambda amount: bar.advance(task, amount)
