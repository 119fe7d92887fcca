"""Running a study's jobs on a Ray cluster.

Machines that share the study's folder write to it, and a run continues from its checkpoint if its machine dies. Other
machines run each job in a temporary folder and send the run folders and the log back at the end.
"""

import io
import os
import secrets
import socket
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unbraid.studies.jobs import (
    THREAD_VARIABLES,
    Failure,
    Job,
    JobContext,
    JobResult,
    pending_plans,
    run_job_logged,
)

RETRIES = 5  # of a job after its machine died
TOKEN = ".here"  # file by which a machine recognizes the study's folder


def run_on_ray(
    jobs: Sequence[Job],
    context: JobContext,
    *,
    address: str,
    cpus: float = 1.0,
    gpus: float = 0.0,
    patience: float = 1.0,
) -> Iterator[JobResult | None]:
    """Runs the jobs on the cluster; yields each result, and None after `patience` seconds without a result.

    Args:
        jobs: Jobs to run.
        context: Folders and devices; the data root is a path on the machines of the cluster.
        address: Address of the cluster: HOST:PORT, ray://HOST:PORT, or `auto` for a cluster on this machine.
        cpus: Cores per job.
        gpus: GPUs per job; fractions share a GPU.
        patience: Seconds to wait for a result.
    """
    ray = _connect(address)
    token = secrets.token_hex(16)
    context.folder.mkdir(parents=True, exist_ok=True)
    (context.folder / TOKEN).write_text(token, encoding="utf-8")
    shares_gpu = 0 < gpus < 1 and context.device != "cpu"  # with jobs that train
    context = context._replace(
        folder=context.folder.resolve(),
        root=context.root and context.root.resolve(),
        eval_device=context.eval_device or ("cpu" if shares_gpu else None),
        processes=max(1, int(cpus)),
    )
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=RETRIES)(_remote_job)
    waiting = {remote.remote(job, context, token): job for job in jobs}
    try:
        while waiting:
            ready, _ = ray.wait(list(waiting), timeout=patience)
            if not ready:
                yield None
            for reference in ready:
                job = waiting.pop(reference)
                try:
                    failures, sent = ray.get(reference)
                except ray.exceptions.RayError as error:
                    failures, sent = _failures_of_lost_job(job, context, error), b""
                _unpack(sent, context.folder.parent)
                yield JobResult(job, failures)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        ray.shutdown()
        (context.folder / TOKEN).unlink(missing_ok=True)


def _connect(address: str) -> Any:
    try:
        import ray
    except ModuleNotFoundError:
        raise ValueError("Ray is not installed. Run pip install 'unbraid[ray]', or use --workers.") from None
    try:
        _check_reachable(address)
        ray.init(address=address, log_to_driver=False, configure_logging=False, namespace="unbraid")
    except Exception as error:  # Ray raises several types, which depend on its version
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(
            f"There is no Ray cluster at {address} ({reason}). Start one with `ray start --head` and pass its "
            "HOST:PORT, or use --workers on this machine."
        ) from None
    return ray


def _check_reachable(address: str) -> None:
    """Raises an error if nothing listens at the address; Ray itself would retry for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=5).close()


def _remote_job(job: Job, context: JobContext, token: str) -> tuple[list[Failure], bytes]:
    """Runs a job on a machine of the cluster; returns its failures, and an archive if the folder is not shared."""
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(context.threads)))
    token_file = context.folder / TOKEN
    if token_file.is_file() and token_file.read_text(encoding="utf-8") == token:
        return run_job_logged(job, context, context.folder.parent / "logs"), b""
    with tempfile.TemporaryDirectory() as folder:
        runs, logs = (Path(folder) / name for name in ("runs", "logs"))
        failures = run_job_logged(job, context._replace(folder=runs), logs)
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for source in (runs, logs):
                if source.is_dir():
                    archive.add(source, source.name)
        return failures, buffer.getvalue()


def _unpack(sent: bytes, folder: Path) -> None:
    if sent:
        with tarfile.open(fileobj=io.BytesIO(sent)) as archive:
            archive.extractall(folder, filter="data")


def _failures_of_lost_job(job: Job, context: JobContext, error: Exception) -> list[Failure]:
    """One failure per unfinished run of a job that Ray gave up."""
    message = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return [
        Failure(str(context.folder / name), str(plan), message, str(error))
        for name, plan in pending_plans(job, context.folder).items()
    ]
