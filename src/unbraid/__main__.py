"""The process of `unbraid` and `python -m unbraid`. Signals are handled before anything heavy is imported."""

import signal

from unbraid.progress import STOPPING, signals_handled, stop_process


def run() -> None:
    """Runs the command line. Ctrl-C while Python exits, after the result, ends the process at once."""
    try:
        with signals_handled(STOPPING, stop_process):
            from unbraid.cli import main

            main()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    run()
