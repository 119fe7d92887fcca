"""The training process: signals that stop it between two steps, and memory that it keeps between steps."""

import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # glibc's names for what mallopt sets
KEPT_BYTES = 1 << 30  # bytes; the activations of a step are far smaller
MAX_MMAP_THRESHOLD = 1 << 25  # the largest threshold that every glibc accepts


@contextmanager
def stop_requested() -> Iterator[Callable[[], bool]]:
    """A function that says whether SIGINT or SIGTERM has arrived; the signals have no other effect meanwhile."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # signal handlers need the main thread
        yield lambda: False
        return
    handlers = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def keep_freed_memory() -> bool:
    """Makes malloc reuse freed memory in the next step; False if the C library has no such setting.

    By default glibc returns the activations of each step to the system and requests them again, and the
    system clears every page: 8,000 to 16,000 page faults, a seventh of the time of a β-VAE's step at 64×64.
    The setting holds for the whole process, which then keeps up to `KEPT_BYTES` more than it uses.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return False
    mapped = set_option(MMAP_THRESHOLD, KEPT_BYTES) or set_option(MMAP_THRESHOLD, MAX_MMAP_THRESHOLD)
    return bool(mapped and set_option(TRIM_THRESHOLD, KEPT_BYTES))
