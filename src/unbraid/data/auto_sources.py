"""The source that `auto` stands for is looked up once per command, so that all its datasets have the same files.

For options such as `digits`, `auto` stands for the official files if they are present, otherwise for a fallback. A
dataset records what `auto` stood for, and so do the runs that are trained on it.
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
Sources = Mapping[tuple[str, Path], str]  # by option and data root
_known_sources: dict[tuple[str, Path], str] | None = None


@contextmanager
def find_once(known: Sources | None = None) -> Iterator[None]:
    """Within this block, each source is looked up once; those of an outer block are used, too."""
    global _known_sources
    outer = _known_sources
    _known_sources = dict(known or {}) if outer is None else outer
    try:
        yield
    finally:
        _known_sources = outer


def find_sources(root: Path | str | None = None) -> Sources:
    """What `auto` stands for now, in every option: for processes that work together."""
    return {(option, data_root(root)): find_source(option, root) for option in RESOLVERS}


def find_source(option: str, root: Path | str | None = None) -> str:
    """What `auto` stands for in an option."""
    key = option, data_root(root)
    if _known_sources is not None and key in _known_sources:
        return _known_sources[key]
    source = RESOLVERS[option](AUTO, root)
    if _known_sources is not None:
        _known_sources[key] = source
    return source
