"""Progress displays: a bar on a terminal, plain lines elsewhere; and signals that stop what takes long."""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any

SECONDS_BETWEEN_LINES = 10.0
SMALLEST_BAR = 10  # columns
RECENT_NOTES = 30  # of the speed, one a second
STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")
STOPPED = "Stopped: run the same command again (training with --resume)."


class Progress:
    """The progress of a run; this class shows nothing, its subclasses show lines or a bar."""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def move(self, done: int) -> None:
        """Notes how many units are done; it costs nothing, and may be called at every step."""

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
    """A bar on standard error: units done, their speed and the time left, and as many terms as the width allows.

    It is drawn four times a second, from what `move` and `show` have noted.
    """

    def __init__(self, title: str, total: int, start: int = 0, unit: str = "steps") -> None:
        from rich.console import Console
        from rich.live import Live

        self._title, self._total, self._unit, self._terms = title, total, unit, dict[str, float]()
        self._done, self._speed = start, RecentSpeed(start)
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, get_renderable=self._line, refresh_per_second=4)

    def __enter__(self) -> "Bar":
        self._speed.note(self._done, time.monotonic())
        self._live.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._live.__exit__(*exception)

    def move(self, done: int) -> None:
        self._done = done

    def show(self, done: int, terms: dict[str, float]) -> None:
        self._done, self._terms = done, terms

    def _line(self) -> Any:
        """Title, bar, units, speed and time left; terms follow where there is room."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        self._speed.note(self._done, time.monotonic())
        speed, left = self._speed.per_second, self._total - self._done
        texts = [f"{self._done}/{self._total}", f"{speed:.1f} {self._unit}/s"]
        texts += [f"{duration(left / speed)} left"] if speed > 0 and left > 0 else []
        room = self._console.width - sum(len(text) + 1 for text in texts) - SMALLEST_BAR - 2
        title = self._title if len(self._title) <= room else self._title[: max(room - 1, 8)] + "…"
        room -= len(title)
        terms = shown_terms(self._terms, room - 1)
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_row(
            Text(title, no_wrap=True),
            ProgressBar(self._total, self._done, width=SMALLEST_BAR + min(max(room - len(terms), 0), 20)),
            *(Text(text, no_wrap=True) for text in (*texts, terms) if text),
        )
        return grid


class RecentSpeed:
    """Units per second over the last half minute, so that an estimate follows what is seen now."""

    def __init__(self, done: int = 0) -> None:
        self._notes = deque[tuple[float, int]](maxlen=RECENT_NOTES)
        self._now = 0.0, done

    def note(self, done: int, now: float) -> None:
        """Notes how many units are done, about once a second."""
        if not self._notes or now - self._notes[-1][0] >= 1.0:
            self._notes.append((now, done))
        self._now = now, done

    @property
    def per_second(self) -> float:
        """0 until something is seen."""
        if not self._notes:
            return 0.0
        (then, before), (now, done) = self._notes[0], self._now
        return (done - before) / (now - then) if now > then else 0.0


def shown_terms(terms: dict[str, float], room: int) -> str:
    """The first terms that fit into so many columns."""
    text = ""
    for name, value in terms.items():
        longer = f"{text}  {name} {value:.4g}" if text else f"{name} {value:.4g}"
        if len(longer) > room:
            break
        text = longer
    return text


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
