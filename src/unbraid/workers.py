"""Processes on this machine that do a study's jobs, each with its share of the cores and a GPU.

They are started once and take one job after the other. Of a population one process a GPU trains all there is, so that
the device is never left to the last few of a batch, and the others score each run as soon as it is trained. One that
dies is started anew, and its job is tried again: a run goes on from its checkpoint. One whose CUDA device does nothing
more after an error ends, so that the next job has a new one. When the process that started them is gone they end too,
so that nobody is left who writes into the folders of a study that somebody has begun again.
"""

import multiprocessing
import os
import threading
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from unbraid.devices import still_computes
from unbraid.locks import at_work
from unbraid.plan import Plan
from unbraid.work import THREADS, Done, Failure, Job, Place, do_and_log, jobs_of, undone

TRIES = 3  # of a job whose process dies


class Told(NamedTuple):
    """What a worker says at the end of a job: what failed, and whether it can take another."""

    failures: list[Failure]
    goes_on: bool


class Worker(NamedTuple):
    """A process and the line to it."""

    process: BaseProcess
    line: Connection
    number: int


def on_workers(
    jobs: Sequence[Job], place: Place, *, workers: int, logs: Path, patience: float = 1.0
) -> Iterator[Done | None]:
    """Does the jobs, `workers` at a time; yields each when it ends, None when nothing has for `patience` seconds."""
    context = multiprocessing.get_context("spawn")
    apart = place.population > 1 and workers > 1
    trainers = max(1, len(_gpus())) if apart else workers
    waiting = deque(_trainings(jobs, trainers) if apart else jobs)
    most = sum(len(job.runs) for job in jobs) if apart else len(jobs)
    numbers, idle = deque(range(min(workers, most))), dict[int, Worker]()
    busy: dict[Worker, Job] = {}
    trained: set[str] = set()

    def score(names: Iterable[str], job: Job) -> None:
        """Lets those runs of a training be scored by whoever has time."""
        new = set(names) - trained
        trained.update(new)
        ready = jobs_of([plan for plan in job.plans if plan.folder in new])
        waiting.extend(one._replace(part="scoring") for one in ready)

    def one_by_one(names: Collection[str], job: Job) -> None:
        """Tries those runs of a training again, each by itself: whichever it is, the others are not lost with it."""
        score(job.runs.keys() - names, job)
        left = jobs_of([plan for plan in job.plans if plan.folder in names])
        waiting.extend(one._replace(part="training") for one in left)

    deaths: Counter[str] = Counter()
    try:
        while waiting or busy:
            for number in [*idle, *numbers]:
                if (job := _next(waiting, trains=number < trainers)) is None:
                    continue
                if number not in idle:
                    numbers.remove(number)
                    idle[number] = _start(context, number, workers, place, logs)
                worker = idle.pop(number)
                busy[worker] = job
                with suppress(OSError):  # one that has died is seen below
                    worker.line.send(job)
            ready = wait([worker.line for worker in busy], timeout=patience)
            if not ready:
                yield None
            for worker in [worker for worker in busy if worker.line in ready]:
                job = busy.pop(worker)
                try:
                    told = worker.line.recv()
                    if isinstance(told, str):  # the name of a run that is trained
                        busy[worker] = job
                        if told not in trained:  # one that is done is told of again when its job is
                            deaths[str(job)] = 0
                        score([told], job)
                        continue
                    failures = told.failures
                except (EOFError, OSError):
                    worker.process.join()
                    numbers.append(worker.number)
                    deaths[str(job)] += 1
                    if deaths[str(job)] < TRIES:
                        waiting.append(job)
                        continue
                    lost = undone(job, place.folder)
                    if job.part == "training" and len(lost) > 1:
                        one_by_one(lost, job)
                        continue
                    failures = [_died(name, lost[name], place, worker.process.exitcode) for name in lost]
                else:
                    if told.goes_on:
                        idle[worker.number] = worker
                    else:
                        worker.process.join()
                        numbers.append(worker.number)
                        if len(job.runs) > 1:
                            one_by_one({Path(failure.run).name for failure in failures}, job)
                            continue
                if job.part == "training":
                    failed = {Path(failure.run).name for failure in failures}
                    score(job.runs.keys() - failed, job)
                    job = job._replace(plans=tuple(plan for plan in job.plans if plan.folder in failed))
                if job.plans:
                    yield Done(job, failures)
    finally:
        for worker in [*idle.values(), *busy]:
            worker.line.close()  # which ends them
        for worker in [*idle.values(), *busy]:
            worker.process.join(timeout=10)
            if worker.process.is_alive():
                worker.process.kill()


def _trainings(jobs: Sequence[Job], trainers: int) -> list[Job]:
    """All runs, dealt out to those who train."""
    by_run = [[plan for plan in job.plans if plan.folder == name] for job in jobs for name in job.runs]
    dealt = [[plan for group in by_run[start::trainers] for plan in group] for start in range(trainers)]
    return [Job(tuple(plans), "training") for plans in dealt if plans]


def _next(waiting: deque[Job], *, trains: bool) -> Job | None:
    """The next job for a worker: trainings first for those that train, and none of them for the others."""
    allowed = [job for job in waiting if trains or job.part != "training"]
    chosen = next((job for job in allowed if job.part == "training"), allowed[0] if allowed else None)
    if chosen is not None:
        waiting.remove(chosen)
    return chosen


def _start(context: SpawnContext, number: int, workers: int, place: Place, logs: Path) -> Worker:
    ours, theirs = context.Pipe()
    process = context.Process(
        target=_serve, args=(theirs, place, logs), daemon=False, name=f"unbraid-{number}"
    )
    with _surroundings(number, workers, place.device):
        process.start()
    theirs.close()
    return Worker(process, ours, number)


@contextmanager
def _surroundings(number: int, workers: int, device: str) -> Iterator[None]:
    """The environment of one process: its share of the cores, and one of the GPUs."""
    wanted = dict.fromkeys(THREADS, str(max(1, (os.cpu_count() or 1) // workers)))
    if device != "cpu" and (gpus := _gpus()):
        wanted["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def _gpus() -> list[str]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    import torch

    if (named := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return [name for name in named.split(",") if name]
    return [str(number) for number in range(torch.cuda.device_count())]


def _serve(line: Connection, place: Place, logs: Path) -> None:
    """What a worker does: one job after the other until the line is closed."""
    jobs: deque[Job] = deque()
    here = at_work(logs.parent)
    arrived = threading.Event()

    def listen() -> None:  # in a thread of its own, to notice at once that nobody is there any more
        while True:
            try:
                jobs.append(line.recv())
            except (EOFError, OSError):
                os._exit(1)  # between two writes: files are replaced whole
            arrived.set()

    def tell(name: str) -> None:
        with suppress(OSError):
            line.send(name)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        arrived.wait()
        arrived.clear()
        job = jobs.popleft()
        try:
            failures = do_and_log(job, place, logs, tell)
        except KeyboardInterrupt:
            break
        goes_on = not failures or still_computes(place.device)
        with suppress(OSError):
            line.send(Told(failures, goes_on))
        if not goes_on:
            break
    here.close()


def _died(name: str, plan: Plan, place: Place, code: int | None) -> Failure:
    said = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    error = f"ChildProcessError: Its process ended {said}, {TRIES} times: is there enough memory?"
    return Failure(str(place.folder / name), str(plan), error, "")
