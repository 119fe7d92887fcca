"""What a method measures through training, such as the number of informative dimensions of a flow."""

from typing import TYPE_CHECKING

import torch
from torch import Generator

from unbraid.data import Dataset
from unbraid.methods import HasMeasurements
from unbraid.seeds import derive_seed
from unbraid.types import Observations

if TYPE_CHECKING:
    from unbraid.training.loop import Trainer

MEASURE_EVERY = 1_000  # steps
SAMPLE = 2_000  # observations


def measurements(trainer: "Trainer", method: HasMeasurements) -> dict[str, float]:
    """Every thousand steps the measurements on the same training observations and, if there are some, on held-out
    observations; otherwise nothing."""
    if trainer.state.step % MEASURE_EVERY:
        return {}
    trainer.method.eval()
    found = method.measure(_sample(trainer.dataset, trainer.device))
    if trainer.val_dataset is not None:
        held_out = method.measure(_sample(trainer.val_dataset, trainer.device))
        found |= {f"validation.{name}": value for name, value in held_out.items()}
    trainer.method.train()
    return found


def _sample(dataset: Dataset, device: torch.device) -> Observations:
    generator = Generator(device).manual_seed(derive_seed(0, "measurements"))
    return dataset.observe(dataset.sample_indices(SAMPLE, generator))
