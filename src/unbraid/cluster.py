"""A study's jobs on a Ray cluster: the same work, done by whichever machines are there.

Where the machines see the study's folder, runs are done in it and go on from their checkpoints wherever a machine
dies. Where they do not, each run is done in a folder of its machine and sent back whole, with its log.
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

from unbraid.work import THREADS, Done, Failure, Job, Place, do_and_log, undone

RETRIES = 5  # of a job whose machine dies
TOKEN = ".here"  # by this file a machine knows the study's folder


def on_ray(
    jobs: Sequence[Job],
    place: Place,
    *,
    address: str,
    cpus: float = 1.0,
    gpus: float = 0.0,
    patience: float = 1.0,
) -> Iterator[Done | None]:
    """Does the jobs on the cluster; yields each when it ends, and None when nothing has for `patience` seconds.

    Args:
        jobs: What to do.
        place: Where and how; data roots are paths on the machines of the cluster.
        address: Of the cluster: HOST:PORT, `auto` for one on this machine, or ray://HOST:PORT.
        cpus: Cores that a job takes.
        gpus: GPUs that a job takes; a part of one lets several share it.
        patience: Seconds between two signs of life.
    """
    ray = _connect(address)
    token = secrets.token_hex(16)
    place.folder.mkdir(parents=True, exist_ok=True)
    (place.folder / TOKEN).write_text(token)
    place = place._replace(folder=place.folder.resolve(), root=place.root and place.root.resolve())
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=RETRIES)(_do_there)
    threads = str(max(1, round(cpus)))
    waiting = {remote.remote(job, place, token, threads): job for job in jobs}
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
                    failures, sent = _lost(job, place, error), b""
                _unpack(sent, place.folder.parent)
                yield Done(job, failures)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        ray.shutdown()
        (place.folder / TOKEN).unlink(missing_ok=True)


def _connect(address: str) -> Any:
    try:
        import ray
    except ModuleNotFoundError:
        raise ValueError("Ray is not installed: pip install 'unbraid[ray]', or use --workers.") from None
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, configure_logging=False, namespace="unbraid")
    except Exception as error:  # Ray has several, by version
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(
            f"There is no Ray cluster at {address} ({said}): start one with `ray start --head` and give its "
            "HOST:PORT, or use --workers on this machine."
        ) from None
    return ray


def _knock(address: str) -> None:
    """Raises unless somebody listens there; Ray itself would try for many minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=5).close()


def _do_there(job: Job, place: Place, token: str, threads: str) -> tuple[list[Failure], bytes]:
    """What a machine of the cluster does: the job's failures, and its runs and log where nobody else sees them."""
    os.environ.update(dict.fromkeys(THREADS, threads))
    known = place.folder / TOKEN
    if known.is_file() and known.read_text() == token:
        return do_and_log(job, place, place.folder.parent / "logs"), b""
    with tempfile.TemporaryDirectory() as folder:
        runs, logs = (Path(folder) / name for name in ("runs", "logs"))
        failures = do_and_log(job, place._replace(folder=runs), logs)
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for part in (runs, logs):
                if part.is_dir():
                    archive.add(part, part.name)
        return failures, buffer.getvalue()


def _unpack(sent: bytes, folder: Path) -> None:
    if sent:
        with tarfile.open(fileobj=io.BytesIO(sent)) as archive:
            archive.extractall(folder, filter="data")


def _lost(job: Job, place: Place, error: Exception) -> list[Failure]:
    """A failure for each run of a job that Ray could not bring to its end."""
    said = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return [
        Failure(str(place.folder / name), str(plan), said, str(error))
        for name, plan in undone(job, place.folder).items()
    ]
