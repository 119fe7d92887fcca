"""Trained models in forms that other tools read."""

from unbraid.export.write import FORMATS, Export, export

__all__ = ["FORMATS", "Export", "export"]
