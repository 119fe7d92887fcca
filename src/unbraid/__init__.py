"""Unbraid: learn representations whose strands come apart."""

import importlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Read when torch is first imported: threads that spin while they wait cost four times the step on busy cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Read when CUDA starts: its eight queues make the models of a population wait for one another. The multi-process
# service has a hundred or so for all processes; three of them would take all.
if "CUDA_MPS_PIPE_DIRECTORY" not in os.environ:
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")

if TYPE_CHECKING:
    from unbraid import data, estimators, explore, methods, metrics, nn, objectives
    from unbraid.data.catalogue import open_dataset
    from unbraid.data.dataset import Dataset
    from unbraid.data.factors import FactorSpace
    from unbraid.evaluate import evaluate
    from unbraid.export import export
    from unbraid.methods.assemble import assemble
    from unbraid.methods.base import Method, Player
    from unbraid.model import Model, load
    from unbraid.plan import Plan, replace
    from unbraid.population import train_population
    from unbraid.results import results
    from unbraid.runs import Run
    from unbraid.select import select
    from unbraid.strands import Strands
    from unbraid.study import study
    from unbraid.train import train

# Where each public name lives. They are imported when first used, so that `unbraid --help` answers at once.
_HOMES = {
    "Dataset": "unbraid.data.dataset",
    "FactorSpace": "unbraid.data.factors",
    "Method": "unbraid.methods.base",
    "Model": "unbraid.model",
    "Plan": "unbraid.plan",
    "Player": "unbraid.methods.base",
    "Run": "unbraid.runs",
    "Strands": "unbraid.strands",
    "assemble": "unbraid.methods.assemble",
    "evaluate": "unbraid.evaluate",
    "export": "unbraid.export",
    "load": "unbraid.model",
    "open_dataset": "unbraid.data.catalogue",
    "replace": "unbraid.plan",
    "results": "unbraid.results",
    "select": "unbraid.select",
    "study": "unbraid.study",
    "train": "unbraid.train",
    "train_population": "unbraid.population",
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
    "assemble",
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
]


class _Package(ModuleType):
    """The package itself: public names are found in their homes.

    Importing the module `unbraid.train` would set the attribute `train` to that module; here it stays the
    function of that name, whichever is imported first.
    """

    def __getattr__(self, name: str) -> Any:
        if name in _PACKAGES:
            return importlib.import_module(f"unbraid.{name}")
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'unbraid' has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOMES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
