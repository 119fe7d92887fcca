"""Where data lies: the data root, and the user's cache folder."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Unbraid's folder in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unbraid"


def data_root(root: Path | str | None = None) -> Path:
    """The folder of the datasets: the argument, else `UNBRAID_DATA`, else the user's cache folder."""
    return Path(root or os.environ.get("UNBRAID_DATA") or cache_folder()).expanduser()
