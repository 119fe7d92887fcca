"""A process that applies a function to lists of tasks from its standard input until this is closed: see `processes`."""

import os
import pickle
import sys
import threading
from queue import SimpleQueue
from typing import Any


def main() -> None:
    """Reads in a thread of its own, so that the process ends at once when the one that started it is gone."""
    messages: SimpleQueue[Any] = SimpleQueue()
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a task prints does not go among the results

    def receive() -> None:
        while True:
            try:
                messages.put(pickle.load(sys.stdin.buffer))
            except EOFError:
                os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    function = messages.get()
    while True:
        pickle.dump(function(messages.get()), results, protocol=pickle.HIGHEST_PROTOCOL)
        results.flush()


if __name__ == "__main__":
    main()
