"""Parts of a score that are computed in several processes, as many as there are cores or as are asked for.

The processes are started for one score and end with it, also if this process is killed. They import Unbraid and no
script of the user, so that a script needs no `if __name__ == "__main__"`.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

WORKER = "unbraid.metrics.process_worker"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def num_cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def num_processes(processes: int | None) -> int:
    """The given number of processes, at most one per core; None is one per core."""
    if processes is not None and processes < 1:
        raise ValueError(f"processes must be at least 1; got {processes}.")
    return num_cores() if processes is None else min(processes, num_cores())


class Processes:
    """Processes that apply a function to lists of tasks; with fewer than two, this process does.

    Args:
        function: Function from a list of tasks to the list of their results. Each process has a copy of it.
        processes: Number of processes.
    """

    def __init__(self, function: Callable[[list[Any]], list[Any]], processes: int) -> None:
        self.function = function
        self._workers: list[subprocess.Popen[bytes]] = []
        self._threads = ThreadPoolExecutor(max(1, processes))
        try:
            while processes > 1 and len(self._workers) < processes:
                self._workers.append(_start())
            list(self._threads.map(lambda worker: _send(worker, function), self._workers))
        except OSError:
            self.close()  # processes cannot be started here

    def map(self, tasks: Sequence[Any]) -> list[Any]:
        """The results of the tasks in their order; each process gets an equal share.

        The share of a process that was killed is computed here.
        """
        if not self._workers:
            return self.function(list(tasks))
        count = len(self._workers)
        shares = [list(tasks[first::count]) for first in range(count)]
        results: list[Any] = [None] * len(tasks)
        for first, found in enumerate(self._threads.map(_ask, self._workers, shares)):
            results[first::count] = self.function(shares[first]) if found is None else found
        return results

    def close(self) -> None:
        """Ends the processes."""
        for worker in self._workers:
            worker.kill()
            worker.communicate()
        self._workers = []
        self._threads.shutdown()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _start() -> "subprocess.Popen[bytes]":
    """A process with one thread, which finds the modules that this one finds and does not hear Ctrl-C."""
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-m", WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": path},
        start_new_session=True,
    )


def _send(worker: "subprocess.Popen[bytes]", message: Any) -> None:
    assert worker.stdin is not None
    pickle.dump(message, worker.stdin, protocol=pickle.HIGHEST_PROTOCOL)
    worker.stdin.flush()


def _ask(worker: "subprocess.Popen[bytes]", tasks: list[Any]) -> list[Any] | None:
    """The results of the tasks; None if the process is dead."""
    assert worker.stdout is not None
    if not tasks:
        return []
    try:
        _send(worker, tasks)
        return pickle.load(worker.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
