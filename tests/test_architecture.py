"""Imports point one way, as docs/architecture.md says."""

import ast
from pathlib import Path

import pytest

import unbraid

SOURCE = Path(unbraid.__file__ or "").parent
# What each part may import of Unbraid at the top of its modules, beside itself.
BASE = {"devices", "distributed", "types", "settings", "naming", "schedules", "seeds", "progress"}
ALLOWED = {
    "metrics": set(),
    "types": {"distributed"},
    "distributed": {"devices"},
    "strands": {"distributed", "types"},
    "seeds": set(),
    "settings": set(),
    "schedules": {"settings", "types"},
    "optimisers": {"settings"},
    "objectives": {"distributed", "settings", "types"},
    "nn": {"distributed", "naming", "settings", "types"},
    "data": {*BASE, "nn"},  # the mixture is what a random network makes of latents
    "methods": {*BASE, "nn", "objectives", "optimisers", "strands"},
    "compiled": {"methods", "settings", "types"},
    "game": {*BASE, "compiled", "methods", "optimisers"},
    "capture": set(),
    "estimate": {*BASE, "capture", "data", "game"},
    "watch": {"types"},
    "display": set(),
    "scores": set(),
    "runs": {"scores"},
    "training": {*BASE, "data", "game", "optimisers"},
    "finishing": {*BASE, "data", "methods"},
    "tracking": {"naming", "runs", "settings"},
    "loop": {
        *BASE,
        "capture",
        "data",
        "estimate",
        "finishing",
        "game",
        "methods",
        "runs",
        "tracking",
        "training",
        "watch",
    },
    "train": {*BASE, "data", "interrupts", "loop", "memory", "methods", "runs", "tracking", "training"},
    "samples": {"data", "methods", "seeds"},
    "model_metrics": {"methods", "metrics", "objectives", "samples"},
    "evaluate": {*BASE, "data", "methods", "metrics", "model_metrics", "runs", "samples", "scores"},
    "explore": {"data", "methods", "metrics", "model", "reopen", "report", "runs", "strands", "types"},
    "cli": {"commands"},
}


def imported(path: Path) -> set[str]:
    """The parts of Unbraid that a module imports at its top level, outside `if TYPE_CHECKING`."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "unbraid":
            parts = node.module.split(".")[1:]
            names |= {parts[0]} if parts else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("unbraid.")}
    return names


@pytest.mark.parametrize("part", sorted(ALLOWED))
def test_a_part_imports_only_what_lies_below_it(part: str) -> None:
    folder, module = SOURCE / part, SOURCE / f"{part}.py"
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [module]:
        beyond = imported(path) - ALLOWED[part] - {part}
        assert not beyond, f"{path.name} imports {', '.join(sorted(beyond))}"


def test_every_source_file_has_a_test_file_of_its_name() -> None:
    tests = Path(__file__).parent
    for path in sorted(SOURCE.rglob("*.py")):
        inside = path.relative_to(SOURCE)
        if (
            inside.stem.startswith("__") or inside.parts[0] == "recipes"
        ):  # recipes are tested by test_study.py
            continue
        names = [tests / inside.with_name(f"test_{inside.name}"), tests / "test_cli.py"]
        assert names[0].exists() or (inside.parts[0] == "commands" and names[1].exists()), inside
