"""The files and functions that two training steps pass, in order: `python benchmarks/walk.py`.

A profile hook follows `unbraid train beta-vae --data sprites` from the command line to the run folder. Imports are left
out: their work is done once, and a reader does not follow it. docs/architecture.md tells the walk in prose.
"""

import argparse
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import unbraid

SOURCE = Path(unbraid.__file__ or "").parent
COMMAND = ("train", "beta-vae", "--data", "sprites", "--steps", "2")


class Walk:
    """A profile hook that notes every function of Unbraid when it is first called."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = {}
        self._importing = 0
        self._names: dict[str, str] = {}  # of each file within the package, from there; empty for others

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code.co_name in ("_find_and_load", "_handle_fromlist") and "importlib" in code.co_filename:
            self._importing += 1 if event == "call" else -1
        if event == "return" or self._importing:
            return
        name = self._names.get(code.co_filename)
        if name is None:
            path = Path(code.co_filename)
            name = str(path.relative_to(SOURCE)) if path.is_relative_to(SOURCE) else ""
            self._names[code.co_filename] = name
        if not name:
            return
        functions = self.files.setdefault(name, [])
        if code.co_qualname not in functions and not code.co_name.startswith("<"):
            functions.append(code.co_qualname)


def walk(command: tuple[str, ...] = COMMAND) -> dict[str, list[str]]:
    """The files that a command passes, in order, each with its functions."""
    import unbraid.studies  # noqa: F401 - imports come first, because a profile hook makes them slow
    from unbraid.cli import main

    hook = Walk()
    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["unbraid", *command, "--out", str(Path(folder) / "run")]
        threading.setprofile(hook)  # type: ignore[arg-type]
        sys.setprofile(hook)  # type: ignore[arg-type]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    return hook.files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true", help="print the files without their functions")
    asked = parser.parse_args()
    files = walk()
    for file, functions in files.items():
        print(file if asked.files else f"{file}: {', '.join(functions)}")
    print(f"{len(files)} files, {sum(map(len, files.values()))} functions")


if __name__ == "__main__":
    main()
