"""Evaluation: encode once, score many."""

from unbraid.evaluation.arguments import check_metric
from unbraid.evaluation.arrays import Arrays
from unbraid.evaluation.check import check_metrics
from unbraid.evaluation.evaluate import evaluate, require_seed, sample_sizes, score
from unbraid.evaluation.identity import score_identities
from unbraid.evaluation.metric_names import (
    ENTRY_POINTS,
    Metric,
    available_metrics,
    find_metric,
    metric_family,
    metric_reference,
    score_name,
    split_strand,
)
from unbraid.evaluation.sample import Sample
from unbraid.evaluation.summary import metric_summary, result_direction

__all__ = [
    "ENTRY_POINTS",
    "Arrays",
    "Metric",
    "Sample",
    "available_metrics",
    "check_metric",
    "check_metrics",
    "evaluate",
    "find_metric",
    "metric_family",
    "metric_reference",
    "metric_summary",
    "require_seed",
    "result_direction",
    "sample_sizes",
    "score",
    "score_identities",
    "score_name",
    "split_strand",
]
