"""Forks one process for each command of `unbraid`, from a parent that has imported everything: a command starts in
milliseconds instead of seconds, and dies alone.

The parent reads one JSON object a line from standard input and answers on standard output:

    {"start": 1, "words": ["list", "methods"], "cwd": …, "environment": {}, "out": FILE, "err": FILE, "patch": null}
    {"started": 1, "pid": 123}
    {"ended": 123, "status": 0, "peak_megabytes": 300}

`patch` is the name of a function in patches.py with its arguments: what the child changes about the world before the
command runs.
"""

import json
import os
import resource
import selectors
import signal
import sys
import threading
from typing import Any

MEMORY = 8 << 30  # bytes of address space: a command that asks for more gets a MemoryError


def main() -> None:
    """Serves until standard input is closed."""
    _import_everything()
    sys.stdout.write('{"ready": true}\n')
    sys.stdout.flush()
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
    selector.register(read, selectors.EVENT_READ)
    waiting = b""
    while True:
        for key, _ in selector.select():
            content = os.read(key.fd, 1 << 16)
            if key.fd == read:
                _report_ended()
                continue
            if not content:
                return
            *lines, waiting = (waiting + content).split(b"\n")
            for line in lines:
                _start(json.loads(line))


def _import_everything() -> None:
    """What commands import, so that the children need not."""
    import gc
    import importlib

    names = (
        "cli.main",
        "training",
        "evaluation",
        "report",
        "explore",
        "export",
        "studies",
        "recipes",
        "demo",
    )
    for name in names:
        importlib.import_module(f"unbraid.{name}")
    for name in (
        "matplotlib.pyplot",
        "sklearn.linear_model",
        "sklearn.ensemble",
        "sklearn.svm",
        "scipy.stats",
    ):
        importlib.import_module(name)
    for name in ("uvicorn", "starlette.applications", "h11", "safetensors.torch", "urllib.request", "h5py"):
        importlib.import_module(name)
    import benchmarks.faults.patches  # noqa: F401

    gc.collect()
    gc.freeze()


def _report_ended() -> None:
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        code = os.waitstatus_to_exitcode(status)
        _answer({"ended": pid, "status": code, "peak_megabytes": usage.ru_maxrss // 1024})


def _answer(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def _start(wanted: dict[str, Any]) -> None:
    pid = os.fork()
    if pid:
        _answer({"started": wanted["start"], "pid": pid})
        return
    code = 70
    try:
        _become(wanted)
        code = _run(wanted)
    finally:
        os._exit(code)


def _become(wanted: dict[str, Any]) -> None:
    """Makes the child a process of its own: session, signals, folder, environment, files, limits."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(wanted["cwd"])
    os.environ.update(wanted["environment"])
    sys.path[:0] = [
        folder for folder in wanted["environment"].get("PYTHONPATH", "").split(os.pathsep) if folder
    ]
    for name, descriptor in (("out", 1), ("err", 2)):
        file = os.open(wanted[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, descriptor)
        os.close(file)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    for number, name, errors in ((1, "stdout", "strict"), (2, "stderr", "backslashreplace")):
        stream = os.fdopen(number, "w", encoding="utf-8", errors=errors, closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _run(wanted: dict[str, Any]) -> int:
    """The command, and its exit code as the interpreter would give it."""
    import atexit
    import traceback

    from benchmarks.faults import patches
    from unbraid.cli.main import main as unbraid

    sys.argv = ["unbraid", *wanted["words"]]
    code = 0
    try:
        if wanted["patch"] is not None:
            name, arguments = wanted["patch"]
            patches.PATCHES[name](**arguments)
        unbraid()
    except SystemExit as exit_:
        if isinstance(exit_.code, str):
            print(exit_.code, file=sys.stderr)
        code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except KeyboardInterrupt:
        traceback.print_exc()
        code = 130
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()
    return code


if __name__ == "__main__":
    main()
