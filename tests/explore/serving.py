"""The explorer's server in a thread of the test."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unbraid.explore.connections import DEADLINE, server


@contextmanager
def serving(application: Any, deadline: float = DEADLINE) -> Iterator[int]:
    """The port on which an application is served."""
    running = server(application, deadline)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=running.run, args=([listening],))
        thread.start()
        yield listening.getsockname()[1]
        running.should_exit = True
        thread.join(10)
        assert not thread.is_alive()
