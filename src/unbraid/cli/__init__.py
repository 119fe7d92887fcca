"""The command line, one file per command."""

from unbraid.cli.main import main

__all__ = ["main"]
