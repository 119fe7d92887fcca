"""Displays for notebooks, as small HTML tables and images, and text that is safe in Markdown and LaTeX."""

from unbraid.display.html import dataset_html, failures_html, model_html, run_html, scores_html, strands_html
from unbraid.display.markdown import code_markdown, escape_latex, escape_markdown

__all__ = [
    "code_markdown",
    "dataset_html",
    "escape_latex",
    "escape_markdown",
    "failures_html",
    "model_html",
    "run_html",
    "scores_html",
    "strands_html",
]
