"""Plans: one run as names and numbers, as the command line and recipes write it."""

import functools
import hashlib
import inspect
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unbraid.data.catalogue import DATASETS, constructor, open_dataset
from unbraid.data.dataset import Dataset
from unbraid.data.draws import DRAWS, Draw
from unbraid.data.law import LAW
from unbraid.methods.assemble import SIZES, assemble, filled
from unbraid.methods.base import Method
from unbraid.model import method_class
from unbraid.naming import choose
from unbraid.options import Option, argument_help, merge, options_of, written
from unbraid.runs import Run, identity
from unbraid.settings import describe
from unbraid.train import train
from unbraid.training import Training

LATER = {
    *LAW,
    "dimensions",
    "free",
    "opening",
    "reconstruct",
    "salient_cost",
    "standardised",
}  # options that earlier plans did not have


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
    # Arguments of `evaluate` such as samples; `on`, options of the data that differ, such as {"part": "test"};
    # `test_part`, the part of the data that predictors are tested on.
    scoring: Mapping[str, Any] = field(default_factory=dict)

    def resolved(self) -> dict[str, dict[str, Any]]:
        """Every option with its value, given or default, under what it belongs to."""
        allowed = allowed_options(self.method, self.data)
        for name in self.options:
            choose(f"option of {self.method} on {self.data}", name, allowed)
        resolved: dict[str, dict[str, Any]] = {}
        for name, (group, option) in allowed.items():
            if name == "background" and not self.options.get(name):
                continue
            value = self.options.get(name, option.default)
            whole = option.kind is float and isinstance(value, int) and not isinstance(value, bool)
            resolved.setdefault(group, {})[name] = float(value) if whole else value
        return resolved

    @functools.cached_property
    def identity(self) -> str:
        """The same for two plans exactly when they ask for the same run.

        Options that came later count only where they are not at their defaults, so that runs keep their names.
        """
        allowed = allowed_options(self.method, self.data)
        options = {
            group: {
                name: value
                for name, value in entries.items()
                if name not in LATER or value != allowed[name][1].default
            }
            for group, entries in self.resolved().items()
        }
        if other := options.get("data", {}).get("background"):
            options["data"]["background"] = other if other in DATASETS else _content(other)
        # A dataset without options of its own had no group of them.
        options = {group: entries for group, entries in options.items() if entries or group != "data"}
        resolved = {"options": options, "method": self.method}
        return identity(
            describe(resolved | {"data": self.data if self.data in DATASETS else _content(self.data)})
        )

    @property
    def folder(self) -> str:
        """The name of its run folder among others."""
        return f"{self.method}-{Path(self.data).stem}-{self.identity}"

    def dataset(self, root: Path | str | None = None) -> Dataset:
        """The dataset, with its options."""
        return open_dataset(self.data, root=root, **self.given("data"))

    def draw(self) -> Draw:
        """How batches are made for the method."""
        return DRAWS[method_class(self.method).batch](**self.resolved().get("draw", {}))

    def build(self, dataset: Dataset) -> Method:
        """The method with fresh networks for the dataset; the seed decides their weights."""
        given = self.given("method") | self.given("networks")
        seed = self.resolved()["training"]["seed"]
        return assemble(method_class(self.method), dataset.shape, seed=seed, **dataset.sizes, **given)

    def run(self, out: Path | str, *, root: Path | str | None = None, **how: Any) -> Run:
        """Trains; `how` are the arguments of `train` that are no settings: device, resume, quiet, …"""
        self.resolved()
        dataset = self.dataset(root)
        return train(self.build(dataset), dataset, out=out, draw=self.draw(), **how, **self.training())

    def training(self) -> dict[str, Any]:
        """The options of the training that were given; one step for a method that needs none."""
        closed_form = method_class(self.method).closed_form
        return ({"steps": 1} if closed_form else {}) | self.given("training")

    def given(self, group: str) -> dict[str, Any]:
        """The options that were given for `method`, `networks`, `draw`, `data` or `training`."""
        allowed = allowed_options(self.method, self.data)
        return {name: value for name, value in self.options.items() if allowed[name][0] == group}

    def __str__(self) -> str:
        said = {name: value for name, value in self.options.items() if value is not None}
        options = [word for name, value in said.items() for word in written(name, value)]
        return shlex.join(["unbraid", "train", self.method, "--data", self.data, *options])


def replace(plan: Plan, **changes: Any) -> Plan:
    """The plan with some of its fields or options changed."""
    names = ("method", "data", "metrics", "scoring")
    own = {name: changes.pop(name) if name in changes else getattr(plan, name) for name in names}
    return Plan(options={**plan.options, **changes}, **own)


def allowed_options(method: str, data: str) -> dict[str, tuple[str, Option]]:
    """The options of a plan by name, each with what it belongs to."""
    cls = method_class(method)
    draw = options_of(DRAWS[cls.batch])
    if "same_class" in draw:  # a method that exchanges what tells the class says so
        draw["same_class"] = draw["same_class"]._replace(default=cls.same_class)
    return merge(
        {
            "method": options_of(cls, leave_out=filled(cls)),
            "networks": options_of(assemble, leave_out=_not_networks(cls)),
            "draw": draw,
            "data": options_of(constructor(data), leave_out=("root", "path")) | _background(cls),
            "training": options_of(Training),
        }
    )


def _background(cls: type[Method]) -> dict[str, Option]:
    """The option `background`, for methods whose batches have observations of it."""
    if not getattr(DRAWS[cls.batch], "sees_background", False):
        return {}
    said = argument_help(inspect.getdoc(open_dataset) or "")["background"]
    return {"background": Option("background", str, None, said)}


def _not_networks(cls: type[Method]) -> tuple[str, ...]:
    """The parameters of `assemble` that are no options of a method."""
    return ("cls", "shape", *SIZES, "seed", "settings", *(("codes",) if cls.sizes_strands else ()))


def _content(path: str) -> dict[str, Any]:
    """What tells one's own files apart: the content of a file, the names and sizes in a folder."""
    if (place := Path(path).expanduser()).is_dir():
        files = sorted(file for file in place.rglob("*") if file.is_file())
        return {"files": [[str(file.relative_to(place)), file.stat().st_size] for file in files]}
    if not place.is_file():
        return {"missing": str(place)}
    with place.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}
