"""Recipes: the runs of a published table or figure, or of a study of one's own."""

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from unbraid.naming import choose, summary
from unbraid.plan import Plan
from unbraid.tables import Published

SCALES = ("quick", "paper")


class Recipe(NamedTuple):
    """A published table or figure, or a study of one's own."""

    name: str
    summary: str
    runs: tuple[Plan, ...]
    published: Published
    scale: str = "quick"


def recipe_names() -> dict[str, str]:
    """The recipes of the package by name, each with its module."""
    found = {}
    for paper in pkgutil.iter_modules(__path__):
        if paper.ispkg:
            package = importlib.import_module(f"unbraid.recipes.{paper.name}")
            for item in pkgutil.iter_modules(package.__path__):
                found[f"{paper.name}/{item.name}".replace("_", "-")] = (
                    f"unbraid.recipes.{paper.name}.{item.name}"
                )
    return found


def read_recipe(name: str, scale: str = "quick") -> Recipe:
    """A recipe of the package, or a Python file with a list or function `runs` of plans."""
    if scale not in SCALES:
        raise ValueError(f"There is no scale {scale!r}: choose {' or '.join(SCALES)}.")
    own = name.endswith(".py")
    if own and not Path(name).is_file():
        raise FileNotFoundError(
            f"There is no file {name}: give a recipe's name or a Python file with `runs`."
        )
    known = name if own else choose("recipe", name, recipe_names())
    try:
        module = _own(Path(name)) if own else importlib.import_module(known)
        runs = getattr(module, "runs", None)
        if callable(runs):
            runs = runs(scale) if inspect.signature(runs).parameters else runs()
    except Exception as error:  # whatever goes wrong in somebody's Python
        raise ValueError(f"{name} cannot be read as a recipe: {type(error).__name__}: {error}.") from error
    if not isinstance(runs, Sequence) or not runs or not all(isinstance(plan, Plan) for plan in runs):
        raise ValueError(f"{name} needs a list or a function `runs` of unbraid.Plan; it has {runs!r:.80}.")
    return Recipe(name, summary(module), tuple(runs), getattr(module, "PUBLISHED", {}), scale)


def _own(path: Path) -> ModuleType:
    """The module in a file of one's own."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
