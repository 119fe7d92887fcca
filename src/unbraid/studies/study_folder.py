"""Whether a study may use a folder: one that is new or empty, or that holds this study already."""

from pathlib import Path

from unbraid.studies.plan import Recipe
from unbraid.studies.results import read_description

DESCRIPTION = "study.json"
PARTS = ("runs", "logs")  # folders that alone do not make a study, and in which a study replaces nothing


def check_folder(folder: Path, recipe: Recipe, threads: int | None = None) -> int:
    """Returns the number of threads of each run: the given one, that of the folder's study, otherwise 1.

    Raises if the folder holds something else: a user's own files, the study of another recipe, or runs with another
    number of threads.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file. Choose a folder for the study.")
    if not (folder / DESCRIPTION).exists():
        if other := _other_entries(folder):
            raise ValueError(
                f"{folder} is not empty and is not a study folder: it contains {other[0]} and no {DESCRIPTION}. Choose "
                "a new or empty folder."
            )
        return threads or 1
    stored = read_description(folder)
    known = {plan.folder_name for plan in recipe.runs}
    others = [path.name for path in (folder / "runs").glob("[!.]*") if path.name not in known]
    if others and _source(stored["recipe"], stored["scale"]) != _source(recipe.name, recipe.scale):
        raise ValueError(
            f"{folder} holds another study, {stored['recipe']} at scale {stored['scale']}, and {len(others)} of its "
            f"runs are not in {recipe.name} at scale {recipe.scale}. Choose another folder."
        )
    if threads not in (None, stored["threads"]):
        raise ValueError(
            f"The runs in {folder} were computed with {stored['threads']} threads each, and with {threads} the others "
            "would differ in their last bits. Leave out --threads, or choose another folder."
        )
    return stored["threads"]


def _other_entries(folder: Path) -> list[str]:
    """The files and folders that a study without a description does not have."""
    entries = sorted(folder.iterdir()) if folder.exists() else []
    return [
        entry.name
        for entry in entries
        if not entry.name.startswith(".") and not (entry.name in PARTS and entry.is_dir())
    ]


def _source(recipe: str, scale: str) -> tuple[str, str]:
    """Recipe and scale; a recipe file is the same from every folder that it is called from."""
    return Path(recipe).name if recipe.endswith(".py") else recipe, scale
