"""`unbraid list`."""

from typing import Annotated

import typer

from unbraid.cli.console import AsJSON, print_json

KINDS = ("methods", "datasets", "metrics", "recipes")


def list_names(
    kind: Annotated[str, typer.Argument(metavar="[methods|datasets|metrics|recipes]")] = "",
    as_json: AsJSON = False,
) -> None:
    """List methods, datasets, metrics and recipes."""
    catalog = names_by_kind(kind)
    if as_json:
        print_json(catalog)
        return
    for heading, entries in catalog.items():
        print(f"{heading}:")
        width = max((len(name) for name in entries), default=0)
        for name, summary in entries.items():
            print(f"  {name:<{width}}  {summary}")


def names_by_kind(kind: str = "") -> dict[str, dict[str, str]]:
    """Names with one line each, of one kind or of all."""
    from unbraid.settings import lookup

    if kind:
        lookup("list", kind, dict.fromkeys(KINDS))
    return {name: _summaries(name) for name in KINDS if kind in ("", name)}


def _summaries(kind: str) -> dict[str, str]:
    from unbraid.options import first_sentence

    if kind == "methods":
        from unbraid.methods import method_classes

        return {name: first_sentence(method) for name, method in method_classes().items()}
    if kind == "datasets":
        from unbraid.data import DATASETS

        return {name: entry.summary for name, entry in DATASETS.items()}
    if kind == "metrics":
        from unbraid.evaluation import available_metrics

        return {name: first_sentence(function) for name, function in available_metrics().items()}
    from unbraid.recipes import read_recipe, recipe_names

    return {name: read_recipe(name).summary for name in recipe_names()}
