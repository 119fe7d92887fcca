"""Choosing by name: the thing itself, or one sentence with the nearest names; and what a thing is, in one line."""

import difflib
import inspect
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")


def choose(kind: str, name: str, table: Mapping[str, T], *, or_else: str = "") -> T:
    """The entry of that name; an unknown one is answered with the nearest names, all of them, and what else
    will do.

    >>> choose("method", "beta-vea", {"beta-vae": 1, "factor-vae": 2})
    Traceback (most recent call last):
    ValueError: There is no method 'beta-vea'; did you mean beta-vae? The choices are beta-vae, factor-vae.
    """
    if name in table:
        return table[name]
    near = difflib.get_close_matches(name, table, n=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    raise ValueError(
        f"There is no {kind} {name!r}{hint} The choices are {', '.join(table) or 'none'}{or_else}."
    )


def summary(thing: object) -> str:
    """What a thing is: the first paragraph of its documentation, on one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
