"""`unbraid list`."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from unbraid.cli.console import AsJSON, print_json

KINDS = ("methods", "datasets", "metrics", "recipes")
Families = dict[str, dict[str, str]]  # the summary of each name, by family


def list_names(
    kind: Annotated[str, typer.Argument(metavar="[methods|datasets|metrics|recipes]")] = "",
    as_json: AsJSON = False,
) -> None:
    """List methods, datasets, metrics and recipes, by family."""
    catalog = names_by_kind(kind)
    if as_json:
        flat = {
            name: {k: v for family in families.values() for k, v in family.items()}
            for name, families in catalog.items()
        }
        print_json(flat)
        return
    print("\n\n".join(_lines(heading, families) for heading, families in catalog.items()))


def names_by_kind(kind: str = "") -> dict[str, Families]:
    """Names with one line each by family, of one kind or of all."""
    from unbraid.settings import lookup

    if kind:
        lookup("list", kind, dict.fromkeys(KINDS))
    families: Mapping[str, Callable[[], Families]] = {
        "methods": _methods,
        "datasets": _datasets,
        "metrics": _metrics,
        "recipes": _recipes,
    }
    return {name: families[name]() for name in KINDS if kind in ("", name)}


def _lines(heading: str, families: Families) -> str:
    width = max((len(name) for entries in families.values() for name in entries), default=0)
    lines = [f"{heading}:"]
    for family, entries in families.items():
        lines += [f"  {family}", *(f"    {name:<{width}}  {summary}" for name, summary in entries.items())]
    return "\n".join(lines)


def _methods() -> Families:
    from unbraid.methods import ENTRY_POINTS, method_classes

    families: Families = {}
    for name, cls in method_classes().items():
        families.setdefault(cls.family, {})[name] = _summary(cls)
    return families | _installed(ENTRY_POINTS)


def _datasets() -> Families:
    from unbraid.data import DATASETS, ENTRY_POINTS

    families: Families = {
        "Generated on this computer": {},
        "From files, with a fallback": {},
        "From files": {},
    }
    for name, entry in DATASETS.items():
        family = (
            "Generated on this computer"
            if entry.source is None
            else "From files, with a fallback"
            if entry.fallback
            else "From files"
        )
        families[family][name] = entry.summary
    return families | _installed(ENTRY_POINTS)


def _metrics() -> Families:
    from unbraid.evaluation import ENTRY_POINTS, available_metrics, metric_family, metric_summary

    families: Families = {}
    for name, metric in available_metrics().items():
        if metric.__module__.startswith("unbraid."):
            families.setdefault(metric_family(metric), {})[name] = metric_summary(metric)
    return families | _installed(ENTRY_POINTS)


def _recipes() -> Families:
    from unbraid.recipes import read_recipe, recipe_names

    families: Families = {}
    for name in recipe_names():
        families.setdefault(name.partition("/")[0], {})[name] = read_recipe(name).summary
    return families


def _installed(group: str) -> Families:
    """What installed packages register, by package."""
    from unbraid.custom_code import plugins

    families: Families = {}
    for name, installed in plugins(group).items():
        families.setdefault(f"From the package {installed.package}", {})[name] = _summary(installed.code)
    return families


def _summary(code: Any) -> str:
    from unbraid.options import first_sentence

    return first_sentence(code)
