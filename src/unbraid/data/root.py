"""Where data is stored: the data root and the cache folder."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """The cache folder: $XDG_CACHE_HOME/unbraid if that is set, otherwise ~/.cache/unbraid."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unbraid"


def data_root(root: Path | str | None = None) -> Path:
    """The folder of the datasets: the argument if given, otherwise $UNBRAID_DATA, otherwise the cache folder."""
    return Path(root or os.environ.get("UNBRAID_DATA") or cache_folder()).expanduser()
