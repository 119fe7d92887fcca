"""Studies whose workers, parents or Ray nodes die."""

import os
import signal
import time
from pathlib import Path

from benchmarks.faults.actions import ACTIONS, base
from benchmarks.faults.case import Case, NotHere
from benchmarks.faults.judge import DidNotSurvive, check_same
from benchmarks.faults.processes import Running, descendants

STUDY = next(action for action in ACTIONS if action.name == "study")
LIMIT = 300.0  # seconds: each worker imports torch
RAY = """
import sys
import threading
import time
from pathlib import Path

from ray.cluster_utils import Cluster
from unbraid.recipes import read_recipe
from unbraid.studies import study

cores = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
cluster = Cluster(initialize_head=True, head_node_args={**cores, "include_dashboard": False})
node = cluster.add_node(**cores)
cluster.wait_for_nodes()

def kill():
    while len(list(Path("study").glob("runs/*/finished.json"))) < int(sys.argv[1]):
        time.sleep(0.05)
    cluster.remove_node(node, allow_graceful=False)

threading.Thread(target=kill, daemon=True).start()
result = study(read_recipe("recipe.py"), "study", device="cpu", ray_address=cluster.address, quiet=True)
print(len(result.failures), "failures")
cluster.shutdown()
"""


def try_dead_worker(case: Case) -> None:
    """A worker process is killed, or the study itself: every run ends, and finished runs are not repeated."""
    reference, here = STUDY.reference(case.bench), case.copy_of(base(case.bench))
    dies = case.rng.choice(("a worker", "two workers", "the study"))
    words = [*STUDY.words, "--workers", "2"]
    running = case.start(words, here, fresh=True)
    finished = case.rng.randint(0, 3)
    case.tried = f"killed {dies} once {finished} runs were finished"
    _wait_for_runs(here, finished, running)
    if dies == "the study":
        running.signal(signal.SIGKILL)
        running.ends_within(LIMIT)
        done = _done(here)
        case.call(words, here, (0,), limit=LIMIT, fresh=True)
        _check_done(here, done)
    else:
        done = _done(here)
        for pid in _workers(running.pid)[: 1 if dies == "a worker" else 2]:
            _kill(pid)
        case.end(running, (0,), limit=LIMIT)
        _check_done(here, done)
    check_same("the table", STUDY.result(here), reference.result)
    case.check_files()


def try_dead_ray_node(case: Case) -> None:
    """One of two Ray nodes on this machine is killed."""
    try:
        import ray  # noqa: F401
    except ModuleNotFoundError:
        raise NotHere("Ray is not installed") from None
    reference, here = STUDY.reference(case.bench), case.copy_of(base(case.bench))
    finished = case.rng.randint(0, 3)
    case.tried = f"killed a node once {finished} runs were finished"
    ended = case.start([str(finished)], here, script=RAY).wait(2 * LIMIT)
    case.commands.append(ended)
    if ended.code or "0 failures" not in ended.out:
        raise DidNotSurvive(f"ended with code {ended.code}", ended.last_lines)
    check_same("the table", STUDY.result(here), reference.result)
    case.check_files()


def _workers(pid: int) -> list[int]:
    """The worker processes of a study: those that import the study's modules."""
    found = []
    for child in descendants(pid):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if b"spawn_main" in command:
            found.append(child)
    return found if len(found) == 2 else []


def _wait_for_runs(here: Path, number: int, running: Running) -> None:
    """Waits until so many runs are finished and both workers are there, or the study has ended."""
    end = time.monotonic() + LIMIT
    while running.is_running and not (len(_done(here)) >= number and _workers(running.pid)):
        if time.monotonic() > end:
            raise DidNotSurvive(f"did not finish {number} runs within {LIMIT:.0f} s")
        time.sleep(0.02)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _done(here: Path) -> dict[str, tuple[int, int]]:
    """The finished runs, with what identifies their weights."""
    done = {}
    for path in here.glob("study/runs/*/finished.json"):
        weights = path.with_name("model.safetensors").stat()
        done[path.parent.name] = (weights.st_ino, weights.st_mtime_ns)
    return done


def _check_done(here: Path, done: dict[str, tuple[int, int]]) -> None:
    now = _done(here)
    for name, was in done.items():
        if now.get(name) != was:
            raise DidNotSurvive(f"trained the finished run {name} again")
