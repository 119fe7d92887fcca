"""Checks of the site that take too long for `make test`: `make docs` runs them after the build."""
