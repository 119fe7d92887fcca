"""The folder of a new run."""

from pathlib import Path


def create_folder(folder: Path) -> None:
    """Creates the folder of a run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{folder} cannot be created ({error.strerror}). Choose another folder.") from None


def check_new_folder(folder: Path) -> None:
    """Raises if a folder for a new run is a file or contains other files."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file. Choose a folder for the run.")
    if folder.exists() and any(entry for entry in folder.iterdir() if not entry.name.startswith(".")):
        raise ValueError(f"{folder} is not empty and is not a run folder. Choose a new or empty folder.")
