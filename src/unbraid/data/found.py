"""What is found under the data root is decided once, so that two openings in one command are of the same files.

Options such as `digits` have the value `auto`: the official files if they are present, otherwise a stand-in. A dataset
records what was found in place of `auto`, and so do the runs that are trained on it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from unbraid.data.backgrounds import resolve_backgrounds
from unbraid.data.grass import resolve_grass
from unbraid.data.mnist import resolve_source
from unbraid.data.root import data_root

AUTO = "auto"
# By option, what `auto` stands for under a data root.
RESOLVERS: Mapping[str, Callable[[str, Path | str | None], str]] = {
    "digits": resolve_source,
    "backgrounds": resolve_backgrounds,
    "grass": resolve_grass,
}
Found = Mapping[tuple[str, Path], str]  # by option and data root
_found: dict[tuple[str, Path], str] | None = None


@contextmanager
def found_once(known: Found | None = None) -> Iterator[None]:
    """Within this block, what was found once is not looked for again; an outer block's findings count, too."""
    global _found
    outer = _found
    _found = dict(known or {}) if outer is None else outer
    try:
        yield
    finally:
        _found = outer


def find_sources(root: Path | str | None = None) -> Found:
    """What `auto` stands for now, in every option: for processes that work together."""
    return {(option, data_root(root)): find_source(option, root) for option in RESOLVERS}


def find_source(option: str, root: Path | str | None = None) -> str:
    """What `auto` stands for in an option."""
    key = option, data_root(root)
    if _found is not None and key in _found:
        return _found[key]
    source = RESOLVERS[option](AUTO, root)
    if _found is not None:
        _found[key] = source
    return source
