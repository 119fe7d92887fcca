"""Displays for notebooks, as small HTML tables and images."""

from unbraid.display.html import dataset_html, failures_html, model_html, run_html, scores_html, strands_html

__all__ = [
    "dataset_html",
    "failures_html",
    "model_html",
    "run_html",
    "scores_html",
    "strands_html",
]
