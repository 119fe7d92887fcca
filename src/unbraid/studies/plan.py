"""Plans, each one run described by names and numbers, and recipes, which list plans."""

import functools
import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from unbraid import custom_code
from unbraid.data import (
    Dataset,
    Draw,
    SeesBackground,
    constructor,
    dataset_name,
    draw_class,
    open_dataset,
)
from unbraid.evaluation import Metric, check_metrics, metric_reference
from unbraid.methods import (
    DATASET_SIZES,
    ClosedForm,
    Method,
    build_method,
    built_arguments,
    method_class,
    method_reference,
    needs_same_class,
)
from unbraid.nn import is_custom_architecture
from unbraid.options import Namespaces, Option, argument_help, options_of, require_values, to_cli_args
from unbraid.runs import Run
from unbraid.settings import from_json, to_json
from unbraid.studies.plan_identity import plan_identity
from unbraid.studies.tables import Published
from unbraid.training import TrainConfig, train

DEFAULT_METRICS = ("reconstruction", "kl")
FIELDS = ("method", "data", "options", "metrics", "evaluation", "draw")


@dataclass(frozen=True, init=False)
class Plan:
    """A method and a dataset with their options, and the metrics to compute.

    Method, dataset, draw and metrics are names, references of your own code (`own.py:DecorVAE`), or the classes and
    functions themselves. An option has its short name where one owner has it, otherwise its full name (`data.noise`).

    >>> plan = Plan("beta-vae", "sprites", {"beta": 4.0, "image_size": 32, "steps": 1000, "seed": 0})
    >>> [replace(plan, beta=beta).options["beta"] for beta in (1.0, 4.0)]
    [1.0, 4.0]
    """

    method: str
    data: str
    options: Mapping[str, Any]
    metrics: tuple[str, ...]
    # Arguments of `evaluate` such as num_samples. `on`: data options that differ in evaluation, such as
    # {"split": "test"}. `test_split`: the split on which predictors are tested.
    evaluation: Mapping[str, Any]
    draw: str | None  # None: the standard draw of the method's batch type

    def __init__(
        self,
        method: str | type[Method],
        data: str | Callable[..., Dataset],
        options: Mapping[str, Any] = MappingProxyType({}),
        metrics: Sequence[str | Metric] = DEFAULT_METRICS,
        evaluation: Mapping[str, Any] = MappingProxyType({}),
        draw: str | type | None = None,
    ) -> None:
        values = {
            "method": method if isinstance(method, str) else method_reference(method),
            "data": data if isinstance(data, str) else dataset_name(data),
            "options": dict(options),
            "metrics": tuple(map(_metric_name, metrics)),
            "evaluation": dict(evaluation),
            "draw": draw if draw is None or isinstance(draw, str) else _location(draw),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self.use_code()

    @classmethod
    def stored(cls, settings: Mapping[str, Any]) -> "Plan":
        """The plan that a file of a study describes. Its own code is not imported: a file never makes code run."""
        plan = object.__new__(cls)
        for name in FIELDS:
            value = from_json(settings.get(name))
            object.__setattr__(plan, name, value if value is not None or name == "draw" else {})
        return plan

    def use_code(self) -> None:
        """Imports the plan's own code and remembers it for this process; a worker process calls it, too."""
        codes = [self.method, self.data, self.draw, self._option("data", "background")]
        for code in codes:
            if isinstance(code, str) and ":" in code and custom_code.is_reference(code):
                custom_code.use(code)
        if is_custom_architecture(architecture := self._option("network", "architecture")):
            custom_code.use(architecture)
        for metric in self.metrics:
            _metric_name(metric)

    def _option(self, owner: str, name: str) -> Any:
        """The value of an explicit option; None if there is none."""
        return self.options.get(name, self.options.get(f"{owner}.{name}"))

    @property
    def method_name(self) -> str:
        """The name of the method in runs and tables, without the file of your own code."""
        return custom_code.plain_name(self.method)

    @property
    def namespaces(self) -> Namespaces[Option]:
        """Every option that the plan may have, by owner."""
        return plan_options(self.method, self.data, self.draw)

    def resolved(self) -> dict[str, dict[str, Any]]:
        """Every option with its explicit or default value, by its owner."""
        namespaces = self.namespaces
        explicit = namespaces.group(self.options)
        resolved: dict[str, dict[str, Any]] = {}
        for owner, option in namespaces:
            if option.name == "background" and not explicit[owner].get("background"):
                continue
            value = explicit[owner].get(option.name, option.default)
            is_whole = option.kind is float and isinstance(value, int) and not isinstance(value, bool)
            resolved.setdefault(owner, {})[option.name] = float(value) if is_whole else value
        return resolved

    @functools.cached_property
    def identity(self) -> str:
        """A hash that two plans share exactly if they describe the same run."""
        return plan_identity(self.method, self.data, self.draw, self.resolved())

    @property
    def folder_name(self) -> str:
        """The name of the run folder."""
        return f"{self.method_name}-{Path(custom_code.plain_name(self.data)).stem}-{self.identity}"

    def dataset(self, root: Path | str | None = None) -> Dataset:
        """Opens the dataset with its options."""
        return open_dataset(self.data, root=root, **self.explicit_options("data"))

    def build_draw(self) -> Draw:
        """The draw that samples the method's batches."""
        draw = draw_class(method_class(self.method).batch_type, self.draw)
        require_values(f"The draw {draw.__name__}", draw, self.explicit_options("draw"))
        return draw(**self.resolved().get("draw", {}))

    def build(self, dataset: Dataset) -> Method:
        """Builds the method with new networks for the dataset; the seed determines their weights.

        Raises for a metric of the plan that does not apply to the method and the dataset.
        """
        options = self.explicit_options("method") | self.explicit_options("network")
        seed = self.resolved()["training"]["seed"]
        method = build_method(
            method_class(self.method), dataset.shape, seed=seed, **dataset.counts, **options
        )
        if self.metrics not in ((), DEFAULT_METRICS):  # not every method has the default ones
            names = self.evaluation.keys() & {"protocol", "num_test_samples"}
            check_metrics(method, dataset, self.metrics, **{name: self.evaluation[name] for name in names})
        return method

    def run(self, out: Path | str, *, root: Path | str | None = None, **arguments: Any) -> Run:
        """Trains. `arguments` go to `train` and do not change the result: device, resume, quiet, …"""
        self.resolved()
        dataset = self.dataset(root)
        draw = self.build_draw()
        return train(self.build(dataset), dataset, out=out, draw=draw, **arguments, **self.training())

    def training(self) -> dict[str, Any]:
        """The explicit training options; one step for a method in closed form."""
        closed_form = issubclass(method_class(self.method), ClosedForm)
        return ({"steps": 1} if closed_form else {}) | self.explicit_options("training")

    def explicit_options(self, owner: str) -> dict[str, Any]:
        """The plan's options that belong to `method`, `network`, `draw`, `data` or `training`."""
        return self.namespaces.group(self.options)[owner]

    def __str__(self) -> str:
        draw = [] if self.draw is None else ["--draw", self.draw]
        options = [
            word
            for name, value in self.options.items()
            if value is not None
            for word in to_cli_args(name, value)
        ]
        return shlex.join(["unbraid", "train", self.method, "--data", self.data, *draw, *options])


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
    fields = {name: changes.pop(name, getattr(plan, name)) for name in FIELDS if name != "options"}
    return Plan(options={**plan.options, **changes}, **fields)


def first_seeds(plans: Sequence[Plan], seeds: int | None) -> tuple[Plan, ...]:
    """The plans with the first so many seeds of their setting; None stands for all.

    >>> plans = [Plan("beta-vae", "sprites", {"steps": 2, "seed": seed}) for seed in (7, 3, 5)]
    >>> [plan.options["seed"] for plan in first_seeds(plans, 2)]
    [7, 3]
    """
    if seeds is None:
        return tuple(plans)
    if seeds < 1:
        raise ValueError(f"A study needs at least 1 seed per setting; got {seeds}.")
    found: dict[str, list[Any]] = {}
    chosen = []
    for plan in plans:
        settings = {name: value for name, value in plan.options.items() if name != "seed"}
        of_setting = found.setdefault(repr((plan.method, plan.data, plan.draw, to_json(settings))), [])
        if (seed := plan.options.get("seed", 0)) not in of_setting:
            of_setting.append(seed)
        if of_setting.index(seed) < seeds:
            chosen.append(plan)
    return tuple(chosen)


def plan_options(method: str, data: str | None, draw: str | None = None) -> Namespaces[Option]:
    """The options of a plan by owner; without a dataset, those of the method, networks, draw and training."""
    cls = method_class(method)
    draw_cls = draw_class(cls.batch_type, draw)
    of_draw = options_of(draw_cls)
    if "same_class" in of_draw:  # methods that swap the class strand need pairs of one class
        of_draw["same_class"] = of_draw["same_class"]._replace(default=needs_same_class(cls))
    owners = {
        "method": options_of(cls, leave_out=built_arguments(cls)),
        "training": options_of(TrainConfig),
        "network": options_of(build_method, leave_out=_not_networks(cls)),
        "data": {}
        if data is None
        else options_of(constructor(data), leave_out=("root", "path")) | _background(draw_cls),
        "draw": of_draw,
    }
    labels = {
        "method": f"the method {method}",
        "training": "the training",
        "network": "the networks",
        "data": f"the dataset {data}",
        "draw": f"the draw {draw_cls.__name__}",
    }
    return Namespaces(owners, labels)


def _background(draw: type) -> dict[str, Option]:
    """The option `background`, for draws whose batches contain background observations."""
    if not isinstance(draw, SeesBackground):
        return {}
    help_text = argument_help(inspect.getdoc(open_dataset) or "")["background"]
    return {"background": Option("background", str, None, help_text)}


def _not_networks(cls: type[Method]) -> tuple[str, ...]:
    """The parameters of `build_method` that are not options of the networks."""
    own_size = cls.code_size_options != ("latent_dim",)
    return ("cls", "shape", *DATASET_SIZES, "seed", *(("latent_dim",) if own_size else ()))


def _metric_name(metric: str | Metric) -> str:
    """The name of a metric; your own function is imported and named by its reference."""
    return metric_reference(metric) if not isinstance(metric, str) or ":" in metric else metric


def _location(code: Any) -> str:
    return custom_code.location(custom_code.use(code))
