"""Progress displays: a bar on a terminal, plain lines elsewhere; and signals that stop what takes long."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

SECONDS_BETWEEN_LINES = 10.0
STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")
STOPPED = "Stopped: run the same command again (training with --resume)."


class Progress:
    """The progress of a run; this class shows nothing, its subclasses show lines or a bar."""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def show(self, done: int, terms: dict[str, float]) -> None:
        """Reports how many units are done and the current loss terms."""


class Lines(Progress):
    """One line on standard error every few seconds, and one at the end."""

    def __init__(self, title: str, total: int, start: int = 0, unit: str = "steps") -> None:
        self.title, self.total, self.start, self.unit = title, total, start, unit

    def __enter__(self) -> "Lines":
        self._start_time = time.monotonic()
        self._last_time = self._start_time - SECONDS_BETWEEN_LINES  # so that the first report is shown
        return self

    def show(self, done: int, terms: dict[str, float]) -> None:
        now = time.monotonic()
        if now - self._last_time < SECONDS_BETWEEN_LINES and done < self.total:
            return
        self._last_time = now
        speed = (done - self.start) / max(now - self._start_time, 1e-9)
        left = f", {duration((self.total - done) / speed)} left" if speed > 0 and done < self.total else ""
        print(
            f"{self.title}: {done}/{self.total} {self.unit}  {_format(terms)}  {speed:.1f} {self.unit}/s{left}",
            file=sys.stderr,
            flush=True,
        )


class Bar(Progress):
    """A Rich progress bar on standard error, with terms, units per second and time left."""

    def __init__(self, title: str, total: int, start: int = 0, unit: str = "steps") -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[terms]}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(title, total=total, completed=start, speed="", terms="")
        self._start, self._unit = start, unit

    def __enter__(self) -> "Bar":
        self._start_time = time.monotonic()
        self._bar.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._bar.__exit__(*exception)

    def show(self, done: int, terms: dict[str, float]) -> None:
        speed = (done - self._start) / max(time.monotonic() - self._start_time, 1e-9)
        self._bar.update(
            self._task, completed=done, speed=f"{speed:.1f} {self._unit}/s", terms=_format(terms)
        )


def progress(title: str, total: int, *, start: int = 0, quiet: bool = False, unit: str = "steps") -> Progress:
    """The progress display of a run: a bar if standard error is a terminal, lines otherwise."""
    if quiet:
        return Progress()
    return (Bar if sys.stderr.isatty() else Lines)(title, total, start, unit)


@contextmanager
def transient_bar(text: str, total: int | None, done: int = 0) -> Iterator[Callable[[int], None]]:
    """A bar for reading or writing files, shown on terminals only and removed at the end.

    Yields the function that advances the bar.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    console = Console(stderr=True)
    bar = RichProgress(
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


def duration(seconds: float) -> str:
    """A time span in its two largest units, such as `3 min 20 s`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def _format(terms: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.4g}" for name, value in terms.items())


class Stopped(KeyboardInterrupt):
    """A signal has stopped the command; the message says how to continue."""

    def __init__(self, message: str = "", number: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.number = number


def signal_number(interrupt: KeyboardInterrupt) -> int:
    """The number of the signal that has stopped a command."""
    return interrupt.number if isinstance(interrupt, Stopped) else signal.SIGINT


def stop_process(number: int) -> None:
    """Ends the process with one sentence and the exit code of the signal: safe at any moment, because files are written
    whole or not at all."""
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(OSError):
        os.write(2, f"unbraid: {STOPPED}\n".encode())
    os._exit(128 + number)


def stop_command(number: int) -> None:
    """Raises `Stopped`; while Python imports a module, ends the process, because the initialization of modules in C
    turns exceptions into other errors."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            stop_process(number)
        frame = frame.f_back
    raise Stopped("", number)


@contextmanager
def signals_handled(names: Collection[str], handle: Callable[[int], None]) -> Iterator[None]:
    """Calls `handle` with the number of each of these signals that arrives.

    Signals that the system lacks are left out, and so is a SIGHUP that `nohup` ignores.
    """
    if threading.current_thread() is not threading.main_thread():  # signal handlers need the main thread
        yield
        return
    numbers = [number for number in signal.Signals if number.name in names]
    before = {number: signal.getsignal(number) for number in numbers}
    before = {n: old for n, old in before.items() if n.name != "SIGHUP" or old is not signal.SIG_IGN}
    try:
        for number in before:
            signal.signal(number, lambda number, _: handle(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Lets signals that stop a command wait for the end of a short block that their exceptions would break."""
    received: list[int] = []
    try:
        with signals_handled(STOPPING, received.append):
            yield
    finally:
        for number in received[:1]:
            signal.raise_signal(number)


@contextmanager
def starting_workers() -> Iterator[None]:
    """Keeps Ctrl-C from the processes that are started in this block: the process that starts them ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which `multiprocessing` needs, and which unblocks the signal when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
