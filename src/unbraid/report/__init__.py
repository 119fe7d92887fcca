"""Figures and the self-contained HTML page."""

from unbraid.report.charts import Chart, chart_of
from unbraid.report.command import command_of
from unbraid.report.contrast import strands_apart
from unbraid.report.figure_table import DECODER, FACTORS, FIGURES, IMAGES, FigureEntry, Need
from unbraid.report.figures import Activity, Figure, Row, activity, reconstructions, swaps, traversals
from unbraid.report.flow_charts import recovered_latents, recovery_chart
from unbraid.report.heatmaps import importance_chart, joint_chart, rank_chart
from unbraid.report.image_grid import image_sheet
from unbraid.report.intervention import interventions, neighbors, quantile_traversals
from unbraid.report.page import PageText, write_report
from unbraid.report.rendering import templates, uri
from unbraid.report.run_figures import page_metrics
from unbraid.report.run_view import about
from unbraid.report.scores import score_rows
from unbraid.report.stored import evidence_table
from unbraid.report.strand_charts import change_chart, map_chart
from unbraid.report.strand_figures import dim_changes, strand_edits, strand_maps
from unbraid.report.study_page import shown_runs, write_study_report
from unbraid.report.subembeddings import accuracy_chart, view_pairs

__all__ = [
    "DECODER",
    "FACTORS",
    "FIGURES",
    "IMAGES",
    "Activity",
    "Chart",
    "Figure",
    "FigureEntry",
    "Need",
    "PageText",
    "Row",
    "about",
    "accuracy_chart",
    "activity",
    "change_chart",
    "chart_of",
    "command_of",
    "dim_changes",
    "evidence_table",
    "image_sheet",
    "importance_chart",
    "interventions",
    "joint_chart",
    "map_chart",
    "neighbors",
    "page_metrics",
    "quantile_traversals",
    "rank_chart",
    "reconstructions",
    "recovered_latents",
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
