"""Training: configuration, the loop, one step, and what stands beside them."""

from unbraid.training.config import Precision, TrainConfig
from unbraid.training.population import train_population
from unbraid.training.train import train

__all__ = [
    "Precision",
    "TrainConfig",
    "train",
    "train_population",
]
