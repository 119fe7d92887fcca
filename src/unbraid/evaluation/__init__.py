"""Evaluation: encode once, score many."""

from unbraid.evaluation.arrays import Arrays
from unbraid.evaluation.evaluate import available_metrics, evaluate, find_metric, score
from unbraid.evaluation.sample import Sample

__all__ = [
    "Arrays",
    "Sample",
    "available_metrics",
    "evaluate",
    "find_metric",
    "score",
]
