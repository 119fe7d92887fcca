"""How a method is trained, as plain data."""

import math
from dataclasses import dataclass, replace
from typing import get_args

from unbraid.data.dataset import Dataset
from unbraid.game import Precision
from unbraid.optimisers import Optimiser
from unbraid.schedules import Schedule


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a method is trained; everything here is part of a run's settings.

    Args:
        steps: How many steps; give this or epochs.
        epochs: How many times as many images as the dataset has; give this or steps.
        batch: Observations (or pairs) in a batch, over all processes together.
        seed: Of the data's draws and of the noise inside the losses.
        optimiser: Takes the place of the first player's, such as adam:0.001.
        rate: A multiplier of every rate by step, such as linear:1:0:100000, cosine:1:0:100000 or
            drop:1:0.1:50000.
        clip: The largest norm of a gradient; 0 for no limit.
        precision: float32, or bf16 for losses under autocast.
        validation: The fraction of observations held out to measure the loss on; 0 for none.
        validate_every: Steps between two such measurements.
        patience: Stop after so many measurements without a better one; 0 never stops.
    """

    steps: int = 0
    epochs: float = 0.0
    batch: int = 64
    seed: int = 0
    optimiser: Optimiser | None = None
    rate: Schedule | None = None
    clip: float = 0.0
    precision: Precision = "float32"
    validation: float = 0.0
    validate_every: int = 1000
    patience: int = 0

    def __post_init__(self) -> None:
        if (self.steps > 0) == (self.epochs > 0) or not math.isfinite(self.epochs):
            raise ValueError(
                f"Give steps or epochs, one of them above 0; got {self.steps} and {self.epochs}."
            )
        if self.precision not in get_args(Precision):
            raise ValueError(
                f"There is no precision {self.precision!r}: choose {' or '.join(get_args(Precision))}."
            )
        for name, least in (("batch", 2), ("clip", 0), ("patience", 0), ("validate_every", 1)):
            if not (given := getattr(self, name)) >= least:
                raise ValueError(f"{name} must be at least {least}; got {given}.")
        if not 0 <= self.validation < 1:
            raise ValueError(
                f"The validation fraction must be at least 0 and below 1; got {self.validation}."
            )
        if self.patience and not self.validation:
            raise ValueError("Early stopping by patience needs a validation fraction above 0.")

    def for_data(self, dataset: Dataset) -> "Training":
        """The same with epochs turned into steps."""
        if not self.epochs:
            return self
        return replace(self, epochs=0.0, steps=math.ceil(self.epochs * len(dataset) / self.batch))
