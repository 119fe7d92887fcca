"""The training process: its versions, signals that stop it between two steps, deterministic kernels, and memory that
it keeps between steps."""

import ctypes
import functools
import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy
import torch

from unbraid.progress import STOPPING, Stopped, signals_handled

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # glibc's names for what mallopt sets
KEPT_BYTES = 1 << 30  # bytes; the activations of a step are far smaller
MAX_MMAP_THRESHOLD = 1 << 25  # the largest threshold that every glibc accepts
COMMIT = "UNBRAID_COMMIT"
CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
DETERMINISTIC_WORKSPACES = (":4096:8", ":16:8")  # NVIDIA's documentation, cuBLAS, "Results reproducibility"


@contextmanager
def stop_requested() -> Iterator[Callable[[], bool]]:
    """A function that says whether SIGINT, SIGTERM or SIGHUP has arrived; a second one ends the training at once."""
    received: list[int] = []

    def handle(number: int) -> None:
        received.append(number)
        if len(received) > 1:
            raise KeyboardInterrupt

    with signals_handled(STOPPING, handle):
        try:
            yield lambda: bool(received)
        except Stopped as stopped:
            stopped.number = received[0] if received else stopped.number
            raise
        except KeyboardInterrupt:
            if not received:
                raise
            message = "Stopped at once: continue from the last checkpoint with --resume."
            raise Stopped(message, received[-1]) from None


@contextmanager
def deterministic_kernels(enabled: bool, device: torch.device) -> Iterator[None]:
    """CUDA kernels that give equal results every time; on a CPU all kernels do, with one number of threads."""
    if not enabled or device.type != "cuda":
        yield
        return
    if os.environ.get(CUBLAS) not in DETERMINISTIC_WORKSPACES:
        if torch.cuda.is_initialized():
            raise ValueError(
                f"--deterministic must be known before CUDA starts: set the environment variable {CUBLAS} to "
                f"{DETERMINISTIC_WORKSPACES[0]} before Python starts."
            )
        os.environ[CUBLAS] = DETERMINISTIC_WORKSPACES[0]
    before = torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    try:
        yield
    except RuntimeError as error:
        if "deterministic" not in str(error):
            raise
        reason = str(error).partition(". ")[0]
        raise ValueError(
            f"This training cannot be deterministic: {reason}. Remove --deterministic."
        ) from error
    finally:
        torch.use_deterministic_algorithms(before[0])
        torch.backends.cudnn.benchmark = before[1]


def versions(device: torch.device | str) -> dict[str, str]:
    """Versions of Unbraid, with its commit if known, of Python and its packages, the platform and the device."""
    from unbraid import __version__

    device = torch.device(device)
    hardware = (
        torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or device.type
    )
    known = {"commit": commit()} if commit() else {}
    return {
        "unbraid": __version__,
        **known,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "platform": platform.platform(),
        "device": f"{device.type} ({hardware})",
    }


@functools.cache
def commit() -> str:
    """The commit of Unbraid's source, followed by `-dirty` if tracked files differ from it; empty if unknown.

    Of an installation from a repository, the commit that pip recorded; of a checkout, what git says; of a copy without
    git, the environment variable UNBRAID_COMMIT.
    """
    if stated := os.environ.get(COMMIT):
        return stated
    source = Path(__file__).parents[1]
    try:
        read_metadata = importlib.metadata.distribution("unbraid").read_text  # as UTF-8
        if (
            recorded := json.loads(read_metadata("direct_url.json") or "{}")
            .get("vcs_info", {})
            .get("commit_id")
        ):
            return str(recorded)
        # A repository around an installed package is not ours.
        _git(source, "ls-files", "--error-unmatch", "__init__.py")
        return _git(source, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, ValueError, subprocess.SubprocessError, importlib.metadata.PackageNotFoundError):
        return ""


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8", timeout=10)
    return done.stdout.strip()


def keep_freed_memory() -> bool:
    """Makes malloc reuse freed memory in the next step; False if the C library has no such setting.

    By default glibc returns the activations of each step to the system and requests them again, and the
    system clears every page: 8,000 to 16,000 page faults, a seventh of the time of a β-VAE's step at 64×64.
    The setting holds for the whole process, which then keeps up to `KEPT_BYTES` more than it uses.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return False
    mapped = set_option(MMAP_THRESHOLD, KEPT_BYTES) or set_option(MMAP_THRESHOLD, MAX_MMAP_THRESHOLD)
    return bool(mapped and set_option(TRIM_THRESHOLD, KEPT_BYTES))
