"""Studies: many runs, their scores and tables."""

from unbraid.studies.aggregate import scores_for, varying_options
from unbraid.studies.compare import Comparison, compare_methods, compare_runs, rank_correlations
from unbraid.studies.plan import Plan, Recipe, first_seeds, plan_options, replace
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
from unbraid.studies.tables import Published, Row, html, is_further, render_table, sign

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
    "compare_methods",
    "compare_runs",
    "first_seeds",
    "html",
    "is_further",
    "is_study",
    "markdown",
    "open_study",
    "plan_options",
    "rank_correlations",
    "read_records",
    "render_table",
    "replace",
    "results",
    "scores_for",
    "select",
    "sign",
    "study",
    "varying_options",
]
