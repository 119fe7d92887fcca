"""Plans of one kind: those that differ in seeds and numbers of their method only, and can train as a stack."""

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from unbraid.data import Dataset, Draw
from unbraid.methods import Method
from unbraid.runs import Run
from unbraid.settings import to_json


@runtime_checkable
class TrainingPlan(Protocol):
    """What a population needs of a plan; `unbraid.Plan` provides it."""

    @property
    def method(self) -> str: ...
    @property
    def data(self) -> str: ...
    @property
    def folder_name(self) -> str: ...
    def resolved(self) -> dict[str, dict[str, Any]]: ...
    def explicit_options(self, owner: str) -> dict[str, Any]: ...
    def dataset(self, root: Path | str | None = None) -> Dataset: ...
    def build_draw(self) -> Draw: ...
    def build(self, dataset: Dataset) -> Method: ...
    def training(self) -> dict[str, Any]: ...
    def run(self, out: Path | str, *, root: Path | str | None = None, **options: Any) -> Run: ...


def varying_scalars(plan: TrainingPlan, plans: Sequence[TrainingPlan]) -> frozenset[str]:
    """The numeric options of the plan's method in which the plans of that method differ."""
    others = [other for other in plans if other.method == plan.method and other is not plan]
    resolved = [
        plan.resolved().get("method", {}),
        *(r.get("method", {}) for r in map(_readable, others) if r),
    ]
    return frozenset(
        name
        for name in resolved[0]
        if all(isinstance(settings[name], float) for settings in resolved)
        and len({settings[name] for settings in resolved}) > 1
    )


def _readable(plan: TrainingPlan) -> dict[str, dict[str, Any]] | None:
    """The options of a plan; None if they are wrong, which is reported when the plan is opened."""
    try:
        return plan.resolved()
    except Exception:
        return None


def groups_of_one_kind(plans: Sequence[TrainingPlan], max_size: int) -> list[list[int]]:
    """The positions of the plans in groups of one kind, of nearly equal sizes; a plan that cannot be read is alone."""
    kinds: dict[str, list[int]] = {}
    for number, plan in enumerate(plans):
        try:
            key = _kind(plan, plans)
        except Exception:  # reported when the plan is opened
            key = f"plan {number}"
        kinds.setdefault(key, []).append(number)
    groups: list[list[int]] = []
    for numbers in kinds.values():
        count = math.ceil(len(numbers) / max_size)
        ends = [len(numbers) * index // count for index in range(count + 1)]
        groups += [numbers[start:end] for start, end in itertools.pairwise(ends)]
    return groups


def _kind(plan: TrainingPlan, plans: Sequence[TrainingPlan]) -> str:
    """A text that plans of one kind share."""
    varying, draw = varying_scalars(plan, plans), type(plan.build_draw())
    options = {
        owner: {name: value for name, value in settings.items() if (owner, name) != ("training", "seed")}
        for owner, settings in plan.resolved().items()
    }
    options["method"] = {
        name: value for name, value in options.get("method", {}).items() if name not in varying
    }
    kind = [plan.method, plan.data, draw.__module__, draw.__qualname__, options]
    return json.dumps(to_json(kind), sort_keys=True)
