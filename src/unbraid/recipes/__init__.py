"""Recipes: the plans of a published table or figure, or of your own study."""

import importlib
import inspect
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from unbraid.custom_code import import_file
from unbraid.options import first_sentence
from unbraid.settings import lookup
from unbraid.studies import Plan, Recipe

SCALES = ("quick", "short", "paper")
DEFAULT_SCALES = ("quick", "paper")  # of a recipe that has no `SCALES` of its own


def recipe_names() -> dict[str, str]:
    """The module of each recipe of the package, by the recipe's name."""
    modules = {}
    for paper in pkgutil.iter_modules(__path__):
        if paper.ispkg:
            package = importlib.import_module(f"unbraid.recipes.{paper.name}")
            for item in pkgutil.iter_modules(package.__path__):
                modules[f"{paper.name}/{item.name}".replace("_", "-")] = (
                    f"unbraid.recipes.{paper.name}.{item.name}"
                )
    return modules


def _scales(module: ModuleType) -> tuple[str, ...]:
    return getattr(module, "SCALES", DEFAULT_SCALES)


def read_recipe(name: str, scale: str = "quick") -> Recipe:
    """Reads a recipe of the package, or a Python file with a list or function `runs` of plans."""
    if scale not in SCALES:
        raise ValueError(f"There is no scale {scale!r}. Choose {_either(SCALES)}.")
    is_file = name.endswith(".py")
    if is_file and not Path(name).is_file():
        raise FileNotFoundError(
            f"There is no file {name}. Give the name of a recipe or a Python file with `runs`."
        )
    module_name = name if is_file else lookup("recipe", name, recipe_names())
    try:
        module = import_file(Path(name), again=True) if is_file else importlib.import_module(module_name)
        scales = _scales(module)
        runs = getattr(module, "runs", None) if scale in scales else ()
        if callable(runs):
            runs = runs(scale) if inspect.signature(runs).parameters else runs()
    except Exception as error:  # any error of the user's code
        cause = error.__cause__ or error
        reason = f"{type(cause).__name__}: {str(cause).removesuffix('.')}"
        raise ValueError(f"{name} cannot be read as a recipe: {reason}.") from error
    if scale not in scales:
        raise ValueError(f"{name} has no scale {scale!r}. Choose {_either(scales)}.")
    if not isinstance(runs, Sequence) or not runs or not all(isinstance(plan, Plan) for plan in runs):
        raise ValueError(f"{name} needs a list or a function `runs` of unbraid.Plan; got {runs!r:.80}.")
    published = getattr(module, "PUBLISHED", {})
    return Recipe(name, first_sentence(module), tuple(runs), published, scale, from_command_line=True)


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]])
