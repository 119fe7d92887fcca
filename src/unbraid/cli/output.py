"""The option `--out`: whether a command can write there is checked before it does any work."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

PAGES = (".html", ".htm")
IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp")


def out_file(*endings: str, help: str) -> Any:
    """The option for a file with one of these endings."""
    return typer.Option(help=help, callback=_unless_missing(lambda path: require_file(path, endings)))


def out_folder(help: str) -> Any:
    """The option for a folder."""
    return typer.Option(help=help, callback=_unless_missing(require_folder))


def require_file(path: Path, endings: tuple[str, ...]) -> None:
    """Raises unless a file of one of these endings can be written; missing folders above it will be made."""
    if path.suffix.lower() not in endings:
        raise ValueError(f"--out {path} must end in {_either(endings)}.")
    if _exists(path) and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device, not a file"
        raise ValueError(f"--out {path} is {kind}. Choose a file in it, or another name.")
    _require_writable(path)


def require_folder(path: Path) -> None:
    """Raises unless a folder is there or can be made."""
    if _exists(path) and not path.is_dir():
        raise ValueError(f"--out {path} is a file. Choose a folder.")
    _require_writable(path)


def _require_writable(path: Path) -> None:
    """Raises unless the nearest folder above the path that exists can be written to."""
    above = next(folder for folder in path.absolute().parents if _exists(folder))
    if not above.is_dir():
        raise ValueError(f"--out {path} is not possible: {above} is a file. Choose another folder.")
    if not os.access(above, os.W_OK | os.X_OK):
        raise ValueError(
            f"--out {path} is not possible: {above} cannot be written to. Choose another folder."
        )


def _exists(path: Path) -> bool:
    """Whether there is something; raises for a name that the system refuses, such as one that is too long."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise ValueError(f"--out {path} is not possible: {error.strerror}. Choose another name.") from None
    return True


def _unless_missing(check: Callable[[Path], None]) -> Callable[[Path | None], Path | None]:
    def checked(value: Path | None) -> Path | None:
        if value is not None:
            check(value)
        return value

    return checked


def _either(endings: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
