"""Plans: one run as names and numbers, as the command line and recipes write it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from unbraid.data.catalogue import constructor, open_dataset
from unbraid.data.dataset import Dataset
from unbraid.data.draws import DRAWS, Draw
from unbraid.methods.assemble import assemble
from unbraid.methods.base import Method
from unbraid.model import method_class
from unbraid.naming import choose
from unbraid.options import Option, merge, options_of
from unbraid.runs import Run, identity
from unbraid.settings import describe
from unbraid.train import Training, train

BUILT = ("encoder", "decoder", "critic", "n")  # constructor arguments that `assemble` fills by name


@dataclass(frozen=True)
class Plan:
    """A method, a dataset, and any of their options by their own names.

    >>> plan = Plan("beta-vae", "sprites", {"beta": 4.0, "size": 32, "steps": 1000, "seed": 0})
    >>> [replace(plan, beta=beta).options["beta"] for beta in (1.0, 4.0)]
    [1.0, 4.0]
    """

    method: str
    data: str
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("reconstruction", "kl")
    scoring: Mapping[str, Any] = field(default_factory=dict)  # samples, test_samples and seed of `evaluate`

    def resolved(self) -> dict[str, dict[str, Any]]:
        """Every option with its value, given or default, under what it belongs to."""
        allowed = allowed_options(self.method, self.data)
        for name in self.options:
            choose(f"option of {self.method} on {self.data}", name, allowed)
        resolved: dict[str, dict[str, Any]] = {}
        for name, (group, option) in allowed.items():
            resolved.setdefault(group, {})[name] = self.options.get(name, option.default)
        return resolved

    @property
    def identity(self) -> str:
        """The same for two plans exactly when they ask for the same run."""
        return identity(describe({"method": self.method, "data": self.data, **self.resolved()}))

    def dataset(self, root: Path | str | None = None) -> Dataset:
        """The dataset, with its options."""
        return open_dataset(self.data, root=root, **self._given("data"))

    def draw(self) -> Draw:
        """How batches are made for the method."""
        return DRAWS[method_class(self.method).batch](**self._given("draw"))

    def build(self, dataset: Dataset) -> Method:
        """The method with fresh networks for the dataset; the seed decides their weights."""
        torch.manual_seed(self._given("training").get("seed", 0))
        given = self._given("method") | self._given("networks")
        return assemble(method_class(self.method), dataset.shape, n=len(dataset), **given)

    def run(self, out: Path | str, *, root: Path | str | None = None, **how: Any) -> Run:
        """Trains; `how` are the arguments of `train` that are no settings: device, resume, quiet, …"""
        self.resolved()
        dataset = self.dataset(root)
        return train(
            self.build(dataset), dataset, out=out, draw=self.draw(), **how, **self._given("training")
        )

    def _given(self, group: str) -> dict[str, Any]:
        allowed = allowed_options(self.method, self.data)
        return {name: value for name, value in self.options.items() if allowed[name][0] == group}

    def __str__(self) -> str:
        options = " ".join(
            f"--{name.replace('_', '-')} {_written(value)}" for name, value in self.options.items()
        )
        return f"unbraid train {self.method} --data {self.data} {options}".rstrip()


def replace(plan: Plan, **changes: Any) -> Plan:
    """The plan with some of its fields or options changed."""
    names = ("method", "data", "metrics", "scoring")
    own = {name: changes.pop(name) if name in changes else getattr(plan, name) for name in names}
    return Plan(options={**plan.options, **changes}, **own)


def allowed_options(method: str, data: str) -> dict[str, tuple[str, Option]]:
    """The options of a plan by name, each with what it belongs to."""
    cls = method_class(method)
    return merge(
        {
            "method": options_of(cls, leave_out=BUILT),
            "networks": options_of(assemble, leave_out=("cls", "shape", "n", "settings")),
            "draw": options_of(DRAWS[cls.batch]),
            "data": options_of(constructor(data), leave_out=("root", "path")),
            "training": options_of(Training),
        }
    )


def _written(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
