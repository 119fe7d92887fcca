"""A bound on what is read into memory, so that a small file cannot fill it."""

import os
import re
from pathlib import Path

VARIABLE = "UNBRAID_MAX_READ"  # such as 16GB: takes the place of both bounds below
FRACTION = 0.5  # of the available memory
# Deflate packs constant bytes 1,030 times smaller, and binary images about 200 times.
MAX_RATIO, RATIO_FROM = 800, 1 << 28
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


class TooLargeError(ValueError):
    """A file announces more than may be read into memory."""


def check_size(path: Path, needed: int, packed: int | None = None) -> None:
    """Raises if so many bytes of a file must not be read into memory.

    Args:
        path: The file, for the error.
        needed: Number of bytes in memory.
        packed: Number of bytes in the file, if they are compressed.
    """
    if (limit := _limit_by_user()) is not None:
        if needed > limit:
            raise TooLargeError(
                f"{path} takes {readable(needed)} in memory, more than the {readable(limit)} of {VARIABLE}."
            )
        return
    if packed is not None and needed > RATIO_FROM and needed > MAX_RATIO * packed:
        raise TooLargeError(
            f"{path} expands from {readable(packed)} to {readable(needed)}: such a file is constant or made to fill "
            f"the memory. Set {VARIABLE}={_in_gb(needed)} to read it anyway."
        )
    available = available_memory()
    if available is not None and needed > FRACTION * available:
        raise TooLargeError(
            f"{path} takes {readable(needed)} in memory, more than half of the {readable(available)} that are "
            f"available. Make it smaller, or set {VARIABLE}={_in_gb(needed)} to read it anyway."
        )


def available_memory() -> int | None:
    """The bytes of memory that this process can still get; None where the system does not say."""
    bounds = []
    try:
        entry = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"))
        bounds += [int(entry[1]) * 1024] if entry else []
    except OSError:  # not Linux
        if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
            bounds.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:  # of a container
        group = Path("/sys/fs/cgroup")
        limit, used = (
            (group / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current")
        )
        bounds += [int(limit) - int(used)] if limit.isdigit() and used.isdigit() else []
    except OSError:
        pass
    return max(0, min(bounds)) if bounds else None


def readable(size: int) -> str:
    """A number of bytes with a unit: `1.9 MB`."""
    unit = next((unit for unit in ("TB", "GB", "MB", "KB") if size >= UNITS[unit]), "bytes")
    return f"{size} bytes" if unit == "bytes" else f"{size / UNITS[unit]:.1f} {unit}"


def _in_gb(needed: int) -> str:
    return f"{-(-needed // 10**9)}GB"


def _limit_by_user() -> int | None:
    text = os.environ.get(VARIABLE, "").strip().upper()
    if not text:
        return None
    size = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?B)?", text)
    if size is None:
        raise ValueError(f"{VARIABLE} must be a size such as 500MB or 16GB; got {os.environ[VARIABLE]!r}.")
    return int(float(size[1]) * UNITS[size[2] or ""])
