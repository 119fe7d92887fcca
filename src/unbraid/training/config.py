"""How a method is trained, as plain data, and what the run folder says of it: the settings and the plan."""

import math
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from unbraid.custom_code import digest, plugin_name, reference
from unbraid.data import DRAWS, Dataset, Draw, constructor
from unbraid.methods import ENTRY_POINTS, Method, built_arguments
from unbraid.optimizers import Optimizer
from unbraid.options import options_of
from unbraid.runs import Run
from unbraid.schedules import Schedule
from unbraid.settings import identity, to_json

Precision = Literal["float32", "bf16"]


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How a method is trained. Every field is part of a run's settings.

    Args:
        steps: Number of training steps (exclusive with --epochs).
        epochs: Training length in multiples of the dataset size (exclusive with --steps).
        batch_size: Observations or pairs per batch, over all processes.
        seed: Random seed for initial weights, batches and noise.
        optimizer: Optimizer of the first player, e.g. adam:0.001.
        lr: Learning rate of the first player's optimizer.
        weight_decay: Weight decay of the first player's optimizer.
        lr_schedule: Schedule that multiplies every learning rate, e.g. linear:1:0:100000 or cosine:1:0:100000.
        grad_clip: Maximum gradient norm per player; 0 disables clipping.
        precision: Precision of the losses: float32, or bf16 for autocast.
        val_fraction: Fraction of the training data held out for validation; 0 for none.
        val_every: Steps between two validations.
        patience: Stop after this many validations without improvement; 0 never stops.
        deterministic: Whether to use only CUDA kernels that give the same weights every time, which takes longer. No
            effect on a CPU.
        keep_weights: Earlier steps whose weights stay in the run folder, so that one run can be scored at several
            lengths, e.g. 10000,30000.
    """

    steps: int = 0
    epochs: float = 0.0
    batch_size: int = 64
    seed: int = 0
    optimizer: Optimizer | None = None
    lr: float | None = None
    weight_decay: float | None = None
    lr_schedule: Schedule | None = None
    grad_clip: float = 0.0
    precision: Precision = "float32"
    val_fraction: float = 0.0
    val_every: int = 1000
    patience: int = 0
    deterministic: bool = False
    keep_weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if (self.steps > 0) == (self.epochs > 0) or not math.isfinite(self.epochs):
            raise ValueError(
                f"Training needs either --steps or --epochs above 0; got {self.steps} steps and {self.epochs} epochs."
            )
        if self.precision not in get_args(Precision):
            raise ValueError(
                f"There is no precision {self.precision!r}: choose {' or '.join(get_args(Precision))}."
            )
        for name, minimum in (("batch_size", 2), ("grad_clip", 0), ("patience", 0), ("val_every", 1)):
            if not (value := getattr(self, name)) >= minimum:
                raise ValueError(f"{name} must be at least {minimum}; got {value}.")
        for name in ("lr", "weight_decay"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise ValueError(f"{name} must be a finite number of at least 0; got {value}.")
        if not 0 <= self.val_fraction < 1:
            raise ValueError(f"val_fraction must be at least 0 and below 1; got {self.val_fraction}.")
        if self.patience and not self.val_fraction:
            raise ValueError("--patience requires --val-fraction above 0.")
        last = self.steps or math.inf  # epochs are converted to steps later, and checked again
        if out_of_range := [step for step in self.keep_weights if not 0 < step < last]:
            raise ValueError(
                f"Steps of --keep-weights must be above 0 and below the last step, whose weights always stay; got "
                f"{out_of_range[0]}{f' of {self.steps} steps' if self.steps else ''}."
            )

    def resolve_steps(self, dataset: Dataset) -> "TrainConfig":
        """The same configuration with epochs converted to steps."""
        if not self.epochs:
            return self
        return replace(self, epochs=0.0, steps=math.ceil(self.epochs * len(dataset) / self.batch_size))

    def first_optimizer(self, method: Method) -> Optimizer | None:
        """The optimizer of the method's first player; None for a method in closed form, which has no player."""
        players = method.players()
        if not players:
            return None
        optimizer = self.optimizer or players[0].optimizer
        changes = {"lr": self.lr, "weight_decay": self.weight_decay}
        changes = {name: value for name, value in changes.items() if value is not None}
        known = {field.name for field in fields(optimizer)}  # type: ignore[arg-type]
        if missing := sorted(changes.keys() - known):
            raise ValueError(
                f"{type(optimizer).__name__} has no {missing[0]}: remove the option, or choose adam."
            )
        return replace(optimizer, **changes)  # type: ignore[type-var]


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """What a training shows and saves on its way. No field changes the weights.

    Args:
        checkpoint_seconds: Seconds between two checkpoints.
        log_every: Steps between two lines of history.
        compile: Whether to use torch.compile for losses on CUDA; by default only for runs of 50,000 steps or more.
        logger: Where the history is logged, too: tensorboard, mlflow or wandb.
        quiet: Whether to show no progress.
    """

    checkpoint_seconds: float = 30.0
    log_every: int = 50
    compile: bool | None = None
    logger: str | None = None
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.log_every < 1:
            raise ValueError(f"log_every must be at least 1 step; got {self.log_every}.")


def split_options(options: dict[str, Any]) -> tuple[TrainConfig, LoopConfig]:
    """Both configurations from options by name."""
    of_loop = {field.name for field in fields(LoopConfig)} & options.keys()
    training = {name: value for name, value in options.items() if name not in of_loop}
    return TrainConfig(**training), LoopConfig(**{name: options[name] for name in of_loop})


def run_settings(
    method: Method, dataset: Dataset, draw: Draw, config: TrainConfig, init_from: Path | str | None = None
) -> dict[str, Any]:
    """Everything that makes two runs the same run."""
    return {
        "method": {"name": method.name(), "arguments": to_json(method.arguments), **_source(type(method))},
        "data": dataset.description(),
        "draw": {"name": type(draw).__name__, "arguments": _fields_as_json(draw), **_source(type(draw))},
        "training": _fields_as_json(config),
        "init_from": None if init_from is None else identity(Run(init_from).settings),
    }


def run_plan(method: Method, dataset: Dataset, draw: Draw, config: TrainConfig) -> dict[str, Any] | None:
    """Names and all options by owner, with which the run can be repeated; None if an object was made in Python."""
    if method.network_options is None or dataset.origin is None:
        return None
    cls, origin = type(method), dataset.origin
    own_size = cls.code_size_options != ("latent_dim",)
    of_data = options_of(constructor(origin["name"]), leave_out=("root", "path"))
    options = {
        "method": {
            name: value for name, value in method.arguments.items() if name not in built_arguments(cls)
        },
        "network": {k: v for k, v in method.network_options.items() if k != "latent_dim" or not own_size},
        "data": {name: option.default for name, option in of_data.items()} | origin["options"],
        "draw": _fields_as_json(draw),
        "training": _fields_as_json(config),
    }
    source = _source(cls)
    standard = DRAWS.get(cls.batch_type) is type(draw)
    return {
        "method": reference(cls) if "code" in source else method.name(),
        "data": origin["name"],
        "draw": None if standard else reference(type(draw)),
        "options": to_json(options),
    }


def _fields_as_json(settings: Any) -> dict[str, Any]:
    """The fields of a dataclass, or the public attributes of another object."""
    names = [field.name for field in fields(settings)] if is_dataclass(settings) else vars(settings)
    return {name: to_json(getattr(settings, name)) for name in names if not name.startswith("_")}


def _source(cls: type) -> dict[str, Any]:
    """The reference of your own class and a hash of its source; nothing for a class of Unbraid or of a package."""
    if cls.__module__.startswith("unbraid.") or plugin_name(ENTRY_POINTS, cls) is not None:
        return {}
    return {"code": reference(cls), "source": digest(cls)}
