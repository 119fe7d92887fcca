"""`python -m unbraid` is `unbraid`."""

from unbraid.cli import main

main()
