"""Plans, each one run described by names and numbers, and recipes, which list plans."""

import functools
import hashlib
import inspect
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from unbraid.data import DATASETS, DRAWS, Dataset, Draw, SeesBackground, constructor, open_dataset
from unbraid.methods import DATASET_SIZES, Method, build_method, built_arguments, method_class
from unbraid.options import Option, argument_help, merge, options_of, to_cli_args
from unbraid.runs import Run, identity
from unbraid.settings import lookup, to_json
from unbraid.studies.tables import Published
from unbraid.training import TrainConfig, train


@dataclass(frozen=True)
class Plan:
    """A method and a dataset with their options, and the metrics to compute.

    >>> plan = Plan("beta-vae", "sprites", {"beta": 4.0, "size": 32, "steps": 1000, "seed": 0})
    >>> [replace(plan, beta=beta).options["beta"] for beta in (1.0, 4.0)]
    [1.0, 4.0]
    """

    method: str
    data: str
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("reconstruction", "kl")
    # Arguments of `evaluate` such as num_samples. `on`: data options that differ in evaluation, such as
    # {"split": "test"}. `test_split`: the split on which predictors are tested.
    evaluation: Mapping[str, Any] = field(default_factory=dict)

    def resolved(self) -> dict[str, dict[str, Any]]:
        """Every option with its explicit or default value, by the group it belongs to."""
        allowed = allowed_options(self.method, self.data)
        for name in self.options:
            lookup(f"option of {self.method} on {self.data}", name, allowed)
        resolved: dict[str, dict[str, Any]] = {}
        for name, (group, option) in allowed.items():
            if name == "background" and not self.options.get(name):
                continue
            value = self.options.get(name, option.default)
            is_whole = option.kind is float and isinstance(value, int) and not isinstance(value, bool)
            resolved.setdefault(group, {})[name] = float(value) if is_whole else value
        return resolved

    @functools.cached_property
    def identity(self) -> str:
        """A hash that two plans share exactly if they describe the same run."""
        options = self.resolved()
        if background := options.get("data", {}).get("background"):
            options["data"]["background"] = _dataset_identity(background)
        return identity(
            to_json({"method": self.method, "data": _dataset_identity(self.data), "options": options})
        )

    @property
    def folder_name(self) -> str:
        """The name of the run folder."""
        return f"{self.method}-{Path(self.data).stem}-{self.identity}"

    def dataset(self, root: Path | str | None = None) -> Dataset:
        """Opens the dataset with its options."""
        return open_dataset(self.data, root=root, **self.explicit_options("data"))

    def draw(self) -> Draw:
        """The draw that samples the method's batches."""
        return DRAWS[method_class(self.method).batch_type](**self.resolved().get("draw", {}))

    def build(self, dataset: Dataset) -> Method:
        """Builds the method with new networks for the dataset; the seed determines their weights."""
        options = self.explicit_options("method") | self.explicit_options("networks")
        seed = self.resolved()["training"]["seed"]
        return build_method(method_class(self.method), dataset.shape, seed=seed, **dataset.counts, **options)

    def run(self, out: Path | str, *, root: Path | str | None = None, **arguments: Any) -> Run:
        """Trains. `arguments` go to `train` and do not change the result: device, resume, quiet, …"""
        self.resolved()
        dataset = self.dataset(root)
        return train(self.build(dataset), dataset, out=out, draw=self.draw(), **arguments, **self.training())

    def training(self) -> dict[str, Any]:
        """The explicit training options; one step for a method in closed form."""
        closed_form = method_class(self.method).closed_form
        return ({"steps": 1} if closed_form else {}) | self.explicit_options("training")

    def explicit_options(self, group: str) -> dict[str, Any]:
        """The plan's options that belong to `method`, `networks`, `draw`, `data` or `training`."""
        allowed = allowed_options(self.method, self.data)
        return {name: value for name, value in self.options.items() if allowed[name][0] == group}

    def __str__(self) -> str:
        options = [
            word
            for name, value in self.options.items()
            if value is not None
            for word in to_cli_args(name, value)
        ]
        return shlex.join(["unbraid", "train", self.method, "--data", self.data, *options])


class Recipe(NamedTuple):
    """The plans of a published table or figure, or of your own study."""

    name: str
    summary: str
    runs: tuple[Plan, ...]
    published: Published
    scale: str = "quick"
    from_command_line: bool = False  # whether `unbraid study NAME` finds the recipe


def replace(plan: Plan, **changes: Any) -> Plan:
    """A copy of the plan with some fields or options changed."""
    names = ("method", "data", "metrics", "evaluation")
    fields = {name: changes.pop(name) if name in changes else getattr(plan, name) for name in names}
    return Plan(options={**plan.options, **changes}, **fields)


def allowed_options(method: str, data: str) -> dict[str, tuple[str, Option]]:
    """The options of a plan by name, each with its group."""
    cls = method_class(method)
    draw = options_of(DRAWS[cls.batch_type])
    if "same_class" in draw:  # methods that swap the class strand need pairs of one class
        draw["same_class"] = draw["same_class"]._replace(default=cls.same_class)
    return merge(
        {
            "method": options_of(cls, leave_out=built_arguments(cls)),
            "networks": options_of(build_method, leave_out=_not_networks(cls)),
            "draw": draw,
            "data": options_of(constructor(data), leave_out=("root", "path")) | _background(cls),
            "training": options_of(TrainConfig),
        }
    )


def _background(cls: type[Method]) -> dict[str, Option]:
    """The option `background`, for methods whose batches contain background observations."""
    if not isinstance(DRAWS[cls.batch_type], SeesBackground):
        return {}
    help_text = argument_help(inspect.getdoc(open_dataset) or "")["background"]
    return {"background": Option("background", str, None, help_text)}


def _not_networks(cls: type[Method]) -> tuple[str, ...]:
    """The parameters of `build_method` that are not options of the method."""
    return ("cls", "shape", *DATASET_SIZES, "seed", *(("latent_dim",) if cls.has_own_code_size else ()))


def _dataset_identity(name_or_path: str) -> str | dict[str, Any]:
    return name_or_path if name_or_path in DATASETS else content_digest(name_or_path)


def content_digest(path: str) -> dict[str, Any]:
    """Identifies your files: the hash of a file's content, or the names and sizes of a folder's files."""
    if (target := Path(path).expanduser()).is_dir():
        files = sorted(file for file in target.rglob("*") if file.is_file())
        return {"files": [[str(file.relative_to(target)), file.stat().st_size] for file in files]}
    if not target.is_file():
        return {"missing": str(target)}
    with target.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest()}
