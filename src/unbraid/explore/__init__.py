"""The explorer: a page to play with a trained model."""

from unbraid.explore.page import write_explorer, write_explorers
from unbraid.explore.server import serve_explorer

__all__ = [
    "serve_explorer",
    "write_explorer",
    "write_explorers",
]
