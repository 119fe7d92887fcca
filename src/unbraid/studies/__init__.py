"""Studies: many runs, their scores and tables."""

from unbraid.studies.aggregate import scores_for, tidy, varying_options
from unbraid.studies.compare import Comparison, compare_methods, compare_runs, rank_correlations
from unbraid.studies.plan import Plan, Recipe, allowed_options, replace
from unbraid.studies.results import (
    StudyFolder,
    is_study,
    markdown,
    open_study,
    read_records,
    results,
)
from unbraid.studies.select import Selection, select
from unbraid.studies.status import StatusLines
from unbraid.studies.study import StudyResult, study
from unbraid.studies.tables import Published, Row, direction, html, render_table

__all__ = [
    "Comparison",
    "Plan",
    "Published",
    "Recipe",
    "Row",
    "Selection",
    "StatusLines",
    "StudyFolder",
    "StudyResult",
    "allowed_options",
    "compare_methods",
    "compare_runs",
    "direction",
    "html",
    "is_study",
    "markdown",
    "open_study",
    "rank_correlations",
    "read_records",
    "render_table",
    "replace",
    "results",
    "scores_for",
    "select",
    "study",
    "tidy",
    "varying_options",
]
