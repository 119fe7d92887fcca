"""Figures and the self-contained HTML page."""

from unbraid.report.figures import Figure, Row, reconstructions, swaps, traversals
from unbraid.report.intervention import (
    importance_chart,
    joint_chart,
    neighbours,
    quantile_traversals,
    rank_chart,
)
from unbraid.report.page import Foreword, write_report
from unbraid.report.sheets import image_sheet
from unbraid.report.strand_charts import change_chart, map_chart
from unbraid.report.strand_figures import code_changes, strand_edits, strand_maps
from unbraid.report.study_page import write_study_report

__all__ = [
    "Figure",
    "Foreword",
    "Row",
    "change_chart",
    "code_changes",
    "image_sheet",
    "importance_chart",
    "joint_chart",
    "map_chart",
    "neighbours",
    "quantile_traversals",
    "rank_chart",
    "reconstructions",
    "strand_edits",
    "strand_maps",
    "swaps",
    "traversals",
    "write_report",
    "write_study_report",
]
