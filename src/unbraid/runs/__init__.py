"""The run folder, its trained model, and its dataset opened again."""

from unbraid.runs.exported_model import FORMAT
from unbraid.runs.folder import Run, create_folder
from unbraid.runs.model import Model, as_observations, load
from unbraid.runs.rebuild import method_of
from unbraid.runs.run_dataset import evaluation_dataset, standardized_for, training_dataset
from unbraid.runs.scores import Scores

__all__ = [
    "FORMAT",
    "Model",
    "Run",
    "Scores",
    "as_observations",
    "create_folder",
    "evaluation_dataset",
    "load",
    "method_of",
    "standardized_for",
    "training_dataset",
]
