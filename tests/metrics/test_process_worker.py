"""A process that computes tasks, src/unbraid/metrics/process_worker.py."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unbraid.metrics.processes import Processes


def printed(numbers: list[int]) -> list[int]:
    print("these numbers", *numbers)
    return numbers


def test_what_a_task_prints_is_no_result() -> None:
    with Processes(printed, 2) as pool:
        assert pool.map([1, 2, 3]) == [1, 2, 3]


SCRIPT = """
import signal
from unbraid.metrics.processes import Processes
print("ready", flush=True)
Processes(signal.sigwait, 2).map([signal.SIGUSR1, signal.SIGUSR2])
"""


def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path: Path) -> None:
    """A script without `if __name__ == "__main__"`, whose processes wait for a signal that never comes."""
    if not Path("/proc/self/task").exists():
        pytest.skip("this system has no /proc")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline()
    workers = wait_for(lambda: len(children := children_of(process.pid)) == 2 and children)
    process.kill()
    process.communicate()
    wait_for(lambda: not any(is_running(worker) for worker in workers))


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def children_of(pid: int) -> list[str]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [child for thread in threads for child in (thread / "children").read_text().split()]


def is_running(pid: str) -> bool:
    """Whether the process exists and is more than an entry that its new parent has not read yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
