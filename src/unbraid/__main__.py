"""`python -m unbraid` is `unbraid`."""

from unbraid.cli import run_process

run_process()
