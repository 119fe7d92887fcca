"""`unbraid list`."""

from unbraid.naming import choose, summary

KINDS = ("methods", "datasets", "metrics", "recipes")


def catalogue(what: str = "") -> dict[str, dict[str, str]]:
    """Names with one line each, of one kind or of all."""
    if what:
        choose("list", what, dict.fromkeys(KINDS))
    return {kind: _entries(kind) for kind in KINDS if what in ("", kind)}


def _entries(kind: str) -> dict[str, str]:
    if kind == "methods":
        from unbraid.model import method_classes

        return {name: summary(method) for name, method in method_classes().items()}
    if kind == "datasets":
        from unbraid.data.catalogue import DATASETS

        return {name: entry.summary for name, entry in DATASETS.items()}
    if kind == "metrics":
        from unbraid.evaluate import available_metrics

        return {name: summary(function) for name, function in available_metrics().items()}
    from unbraid.recipes import read_recipe, recipe_names

    return {name: read_recipe(name).summary for name in recipe_names()}
