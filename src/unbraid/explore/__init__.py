"""The explorer: a page to play with a trained model."""

from unbraid.explore.page import write_explorer

__all__ = ["write_explorer"]
