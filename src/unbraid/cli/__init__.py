"""The command line, one file per command."""

from unbraid.cli.main import main, run_process

__all__ = [
    "main",
    "run_process",
]
