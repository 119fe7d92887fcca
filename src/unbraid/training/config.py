"""How a method is trained, as plain data."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from unbraid.data import Dataset
from unbraid.methods import Method
from unbraid.optimizers import Optimizer
from unbraid.schedules import Schedule

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
