"""Figures and the self-contained HTML page."""

from unbraid.report.figures import Figure, Row, reconstructions, swaps, traversals
from unbraid.report.page import Foreword, write_report
from unbraid.report.sheets import image_sheet

__all__ = [
    "Figure",
    "Foreword",
    "Row",
    "image_sheet",
    "reconstructions",
    "swaps",
    "traversals",
    "write_report",
]
