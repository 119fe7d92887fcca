"""Stopping between two steps, not within one."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Turns an interrupt or a termination into a question that the loop asks between two steps."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {
        kind: signal.signal(kind, lambda kind, _: asked.append(kind))
        for kind in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield lambda: bool(asked)
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
