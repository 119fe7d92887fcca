"""Unbraid: disentangled representation learning in PyTorch."""

import importlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Read when torch is first imported: threads that spin while they wait cost four times the step on busy cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Read when CUDA starts: its eight queues make the models of a population wait for one another. The multi-process
# service has a hundred or so for all processes; three of them would take all.
if "CUDA_MPS_PIPE_DIRECTORY" not in os.environ:
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")

if TYPE_CHECKING:
    from unbraid import data, estimators, explore, methods, metrics, nn, objectives
    from unbraid.custom_code import use
    from unbraid.data import Dataset, FactorSpace, open_dataset
    from unbraid.evaluation import evaluate
    from unbraid.export import export
    from unbraid.methods import Method, Player, build_method
    from unbraid.runs import Model, Run, load
    from unbraid.strands import Strands
    from unbraid.studies import Plan, replace, results, select, study
    from unbraid.training import train, train_population

# The package of each public name. It is imported when the name is first used, so that `unbraid --help` answers at once.
_PACKAGE_OF = {
    "Dataset": "unbraid.data",
    "FactorSpace": "unbraid.data",
    "Method": "unbraid.methods",
    "Model": "unbraid.runs",
    "Plan": "unbraid.studies",
    "Player": "unbraid.methods",
    "Run": "unbraid.runs",
    "Strands": "unbraid.strands",
    "build_method": "unbraid.methods",
    "evaluate": "unbraid.evaluation",
    "export": "unbraid.export",
    "load": "unbraid.runs",
    "open_dataset": "unbraid.data",
    "replace": "unbraid.studies",
    "results": "unbraid.studies",
    "select": "unbraid.studies",
    "study": "unbraid.studies",
    "train": "unbraid.training",
    "train_population": "unbraid.training",
    "use": "unbraid.custom_code",
}
_PACKAGES = ("data", "estimators", "explore", "methods", "metrics", "nn", "objectives")

__all__ = [
    "Dataset",
    "FactorSpace",
    "Method",
    "Model",
    "Plan",
    "Player",
    "Run",
    "Strands",
    "build_method",
    "data",
    "estimators",
    "evaluate",
    "explore",
    "export",
    "load",
    "methods",
    "metrics",
    "nn",
    "objectives",
    "open_dataset",
    "replace",
    "results",
    "select",
    "study",
    "train",
    "train_population",
    "use",
]


class _Unbraid(ModuleType):
    """The package itself: looks public names up in their packages.

    Importing the package `unbraid.export` would set the attribute `export` to that package. Here `unbraid.export`
    stays the function, whichever is imported first.
    """

    def __getattr__(self, name: str) -> Any:
        if name in _PACKAGES:
            return importlib.import_module(f"unbraid.{name}")
        if name in _PACKAGE_OF:
            return getattr(importlib.import_module(_PACKAGE_OF[name]), name)
        raise AttributeError(f"module 'unbraid' has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PACKAGE_OF and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Unbraid
