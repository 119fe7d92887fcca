"""Worker processes on this machine that run a study's jobs, each with the threads of a run and one of the GPUs.

Workers are started once and take one job after the other. With a population, one worker per GPU trains all runs, so
that the GPU stays full, and the other workers evaluate each run as soon as it is trained. A worker that dies is
replaced, and its job is retried: a run continues from its checkpoint. A worker whose CUDA device is unusable after an
error ends, and the next job gets a new worker. Workers end when the process that started them is gone, so that they
never write into the folder of a study that was started again.
"""

import multiprocessing
import os
import threading
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.distributed import is_usable
from unbraid.progress import starting_workers
from unbraid.studies.jobs import (
    THREAD_VARIABLES,
    Failure,
    Job,
    JobContext,
    JobResult,
    environment,
    make_jobs,
    pending_plans,
    run_job_logged,
)
from unbraid.studies.locks import worker_lock
from unbraid.studies.placement import visible_gpus
from unbraid.studies.plan import Plan

TRIES = 3  # of a job whose worker dies


class WorkerReply(NamedTuple):
    """A worker's message at the end of a job: the failures, and whether it can take another job."""

    failures: list[Failure]
    usable: bool


class Worker(NamedTuple):
    """A process and the connection to it."""

    process: BaseProcess
    connection: Connection
    number: int


def run_on_workers(
    jobs: Sequence[Job], context: JobContext, *, workers: int, logs: Path, patience: float = 1.0
) -> Iterator[JobResult | None]:
    """Runs the jobs on worker processes; yields each result, and None after `patience` seconds without a message."""
    pool = _Pool(jobs, context, workers=workers, logs=logs)
    try:
        while pool.waiting or pool.busy:
            pool.assign_jobs()
            ready = wait([worker.connection for worker in pool.busy], timeout=patience)
            if not ready:
                yield None
            for worker in [worker for worker in pool.busy if worker.connection in ready]:
                if (result := pool.receive(worker)) is not None:
                    yield result
    finally:
        pool.close()


class _Pool:
    """The workers, the waiting jobs and the runs that are trained."""

    def __init__(self, jobs: Sequence[Job], context: JobContext, *, workers: int, logs: Path) -> None:
        self.context, self.logs = context, logs
        separate = context.population > 1 and workers > 1  # some workers train, the others evaluate
        self.trainers = max(1, len(visible_gpus())) if separate else workers
        self.waiting = deque(_trainings(jobs, self.trainers) if separate else jobs)
        max_workers = sum(len(job.runs) for job in jobs) if separate else len(jobs)
        self.free_numbers = deque(range(min(workers, max_workers)))
        self.idle: dict[int, Worker] = {}
        self.busy: dict[Worker, Job] = {}
        self.trained: set[str] = set()
        self.deaths: Counter[str] = Counter()

    def assign_jobs(self) -> None:
        """Sends waiting jobs to idle workers, and starts workers while there are jobs for them."""
        for number in [*self.idle, *self.free_numbers]:
            if (job := _next(self.waiting, trains=number < self.trainers)) is None:
                continue
            if number not in self.idle:
                self.free_numbers.remove(number)
                self.idle[number] = _start(number, self.context, self.logs)
            worker = self.idle.pop(number)
            self.busy[worker] = job
            with suppress(OSError):  # the death of a worker is noticed in `receive`
                worker.connection.send(job)

    def receive(self, worker: Worker) -> JobResult | None:
        """Handles a message of a worker, or its death; returns the result if the job has ended."""
        job = self.busy.pop(worker)
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            failures = self._worker_died(worker, job)
        else:
            if isinstance(message, str):  # the name of a trained run
                self.busy[worker] = job
                if message not in self.trained:  # a retried job reports its finished runs again
                    self.deaths[str(job)] = 0
                self._queue_evaluation([message], job)
                return None
            failures = self._job_ended(worker, job, message)
        if failures is None:
            return None
        if job.stage == "training":
            failed = {Path(failure.run).name for failure in failures}
            self._queue_evaluation(job.runs.keys() - failed, job)
            job = job._replace(plans=tuple(plan for plan in job.plans if plan.folder_name in failed))
        return JobResult(job, failures) if job.plans else None

    def close(self) -> None:
        """Ends the workers."""
        workers = [*self.idle.values(), *self.busy]
        for worker in workers:
            worker.connection.close()  # which ends the worker
        for worker in workers:
            worker.process.join(timeout=10)
            if worker.process.is_alive():
                worker.process.kill()

    def _worker_died(self, worker: Worker, job: Job) -> list[Failure] | None:
        """Retries the job, or returns its failures after too many deaths."""
        self._discard(worker)
        self.deaths[str(job)] += 1
        if self.deaths[str(job)] < TRIES:
            self.waiting.append(job)
            return None
        lost = pending_plans(job, self.context.folder)
        if job.stage == "training" and len(lost) > 1:
            self._retry_separately(lost, job)
            return None
        return [_died(name, lost[name], self.context, worker.process.exitcode) for name in lost]

    def _job_ended(self, worker: Worker, job: Job, reply: WorkerReply) -> list[Failure] | None:
        """The failures of the job, or None if its failed runs are retried."""
        if reply.usable:
            self.idle[worker.number] = worker
            return reply.failures
        self._discard(worker)
        if len(job.runs) > 1:
            self._retry_separately({Path(failure.run).name for failure in reply.failures}, job)
            return None
        return reply.failures

    def _discard(self, worker: Worker) -> None:
        worker.process.join()
        self.free_numbers.append(worker.number)

    def _queue_evaluation(self, names: Iterable[str], job: Job) -> None:
        """Queues the evaluation of trained runs, for any worker."""
        new = set(names) - self.trained
        self.trained.update(new)
        jobs = make_jobs([plan for plan in job.plans if plan.folder_name in new])
        self.waiting.extend(each._replace(stage="evaluation") for each in jobs)

    def _retry_separately(self, names: Collection[str], job: Job) -> None:
        """Queues each of these runs as a job of its own, so that the run at fault does not fail the others."""
        self._queue_evaluation(job.runs.keys() - names, job)
        jobs = make_jobs([plan for plan in job.plans if plan.folder_name in names])
        self.waiting.extend(each._replace(stage="training") for each in jobs)


def _trainings(jobs: Sequence[Job], trainers: int) -> list[Job]:
    """All runs, distributed over the workers that train."""
    by_run = [[plan for plan in job.plans if plan.folder_name == name] for job in jobs for name in job.runs]
    shares = [[plan for group in by_run[start::trainers] for plan in group] for start in range(trainers)]
    return [Job(tuple(plans), "training") for plans in shares if plans]


def _next(waiting: deque[Job], *, trains: bool) -> Job | None:
    """The next job for a worker: trainings first for workers that train, and never for the others."""
    allowed = [job for job in waiting if trains or job.stage != "training"]
    chosen = next((job for job in allowed if job.stage == "training"), allowed[0] if allowed else None)
    if chosen is not None:
        waiting.remove(chosen)
    return chosen


def _start(number: int, context: JobContext, logs: Path) -> Worker:
    spawn = multiprocessing.get_context("spawn")
    connection, other_end = spawn.Pipe()
    process = spawn.Process(
        target=_serve, args=(other_end, context, logs, number), daemon=False, name=f"unbraid-{number}"
    )
    with environment(_worker_environment(number, context)), starting_workers():
        process.start()
    other_end.close()
    return Worker(process, connection, number)


def _worker_environment(number: int, context: JobContext) -> dict[str, str]:
    """The environment of one worker: the threads of a run, and one of the GPUs."""
    variables = dict.fromkeys(THREAD_VARIABLES, str(context.threads))
    if context.device != "cpu" and (gpus := visible_gpus()):
        variables["CUDA_VISIBLE_DEVICES"] = gpus[number % len(gpus)]
    return variables


def _serve(connection: Connection, context: JobContext, logs: Path, number: int) -> None:
    """The main function of a worker: runs one job after the other until the connection is closed."""
    jobs: deque[Job] = deque()
    lock = worker_lock(logs.parent, number)
    arrived = threading.Event()

    def receive_jobs() -> None:  # in its own thread, to notice at once that the study's process is gone
        while True:
            try:
                jobs.append(connection.recv())
            except (EOFError, OSError):
                os._exit(1)  # safe at any moment: files are replaced atomically
            arrived.set()

    def notify(message: Any) -> None:
        with suppress(OSError):
            connection.send(message)

    threading.Thread(target=receive_jobs, daemon=True).start()
    usable = True
    while usable:
        arrived.wait()
        arrived.clear()
        job = jobs.popleft()
        try:
            failures = run_job_logged(job, context, logs, notify)
        except KeyboardInterrupt:
            break
        usable = not failures or is_usable(context.device)
        notify(WorkerReply(failures, usable))
    lock.release()


def _died(name: str, plan: Plan, context: JobContext, code: int | None) -> Failure:
    reason = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    error = f"ChildProcessError: The worker process ended {reason}, {TRIES} times. Check that there is enough memory."
    return Failure(str(context.folder / name), str(plan), error, "")
