"""Figures and the self-contained HTML page."""

from unbraid.report.command import command_of
from unbraid.report.contrast import strands_apart
from unbraid.report.figures import Activity, Figure, Row, activity, reconstructions, swaps, traversals
from unbraid.report.flow_charts import recovery_chart
from unbraid.report.heatmaps import importance_chart, joint_chart, rank_chart
from unbraid.report.image_grid import image_sheet
from unbraid.report.intervention import interventions, neighbors, quantile_traversals
from unbraid.report.page import PageText, write_report
from unbraid.report.rendering import templates, uri
from unbraid.report.run_figures import Chart, chart_of
from unbraid.report.run_view import about
from unbraid.report.scores import score_rows
from unbraid.report.strand_charts import change_chart, map_chart
from unbraid.report.strand_figures import dim_changes, strand_edits, strand_maps
from unbraid.report.study_page import shown_runs, write_study_report
from unbraid.report.subembeddings import accuracy_chart, view_pairs

__all__ = [
    "Activity",
    "Chart",
    "Figure",
    "PageText",
    "Row",
    "about",
    "accuracy_chart",
    "activity",
    "change_chart",
    "chart_of",
    "command_of",
    "dim_changes",
    "image_sheet",
    "importance_chart",
    "interventions",
    "joint_chart",
    "map_chart",
    "neighbors",
    "quantile_traversals",
    "rank_chart",
    "reconstructions",
    "recovery_chart",
    "score_rows",
    "shown_runs",
    "strand_edits",
    "strand_maps",
    "strands_apart",
    "swaps",
    "templates",
    "traversals",
    "uri",
    "view_pairs",
    "write_report",
    "write_study_report",
]
